"""Names of well-known tools, and endings of organizations; all lower-case."""

from __future__ import annotations

_ALWAYS = """
angularjs ansible apache-kafka argocd aws azure bigquery bitbucket celery chatgpt chromadb circleci
clickhouse cloudflare cloudfront cmake cockroachdb codex confluence couchdb cpython databricks datadog
debian discord django docker docker-compose dockerhub duckdb dynamodb elasticsearch eslint expressjs
falkordb fastapi ffmpeg figma firebase github gitlab gitlab-ci gmail golang grafana graphql grpc gunicorn
huggingface influxdb intellij ios javascript jenkins jira jquery junit jupyter kubernetes kubectl
langchain laravel llamaindex linux mariadb matplotlib memcached minio mongodb mongo mypy mysql neo4j
netlify nextjs nginx nodejs npm numpy nuxtjs oauth ollama onnx openai openapi opencv opensearch openssl
opentelemetry pagerduty pandas pgvector playwright pnpm podman postgres postgresql powershell prometheus
pulumi pydantic pytest pytorch qdrant rabbitmq raspberry-pi react-native redis redshift rubygems rubocop
s3 salesforce scikit-learn scipy selenium servicenow shopify snowflake sqlalchemy sqlite supabase
sveltekit systemd tailwindcss tensorflow terraform typescript ubuntu uvicorn vercel vitest vscode vs-code
vuejs webpack websocket wireguard wordpress xcode yarn zendesk zsh zookeeper
"""
"""Whatever their case, these are nothing else."""

_CAPITALISED = """
airflow android angular bash chef chrome claude consul copilot cursor cypress excel express firefox flask
git go hadoop helm heroku istio java julia kafka keycloak kotlin lambda lua mattermost nomad notion nuxt
obsidian oracle perl php puppet python rails react ruby rust sass scala sentry slack spark splunk spring
stripe svelte swift tableau tailwind teams trello twilio vault vite vue windows zapier zig zoom
"""
"""Tools when they are written with a capital inside a sentence; else they may be words."""

_SUFFIXES = """
inc corp corporation gmbh ltd llc plc ag labs foundation institute university college hospital clinic
bank airlines airways motors pharmaceuticals technologies consulting partners holdings ventures capital
insurance museum academy ministry agency
"""

ALWAYS_TOOLS = frozenset(_ALWAYS.split())
CAPITALISED_TOOLS = frozenset(_CAPITALISED.split())
ORGANIZATION_SUFFIXES = frozenset(_SUFFIXES.split())
