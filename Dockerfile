# The service as an image. Embedded engines by default; docker-compose.yml names servers instead.
FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /opt/automem
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY automem ./automem
RUN /opt/automem/bin/pip install --no-cache-dir --disable-pip-version-check . -c constraints.txt

FROM python:3.12-slim
# The embedded graph engine is built with OpenMP.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 automem \
    && install --directory --owner automem --group automem --mode 0700 /data
COPY --from=build /opt/automem /opt/automem
ENV PATH=/opt/automem/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    AUTOMEM_HOST=0.0.0.0 \
    AUTOMEM_DATA_DIR=/data
USER automem
WORKDIR /home/automem
VOLUME /data
EXPOSE 8001
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('PORT', '8001') + '/health/ready', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["automem", "serve"]
