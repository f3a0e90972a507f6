"""Names of well-known tools and concepts, and endings of organizations; all lower-case."""

from __future__ import annotations

_ALWAYS = """
airflow airtable angularjs ansible apache-kafka argocd aws azure bigquery bitbucket celery chart-js chatgpt
chromadb circleci clickhouse cloudflare cloudfront cmake cockroachdb codex confluence couchdb cpython
databricks datadog debian devtools discord django docker docker-compose dockerhub duckdb dynamodb
elasticsearch eslint expressjs falkordb fastapi ffmpeg figma firebase firefox github gitlab gitlab-ci gmail
golang grafana graphql grpc gunicorn hadoop heroku huggingface influxdb intellij ios istio javascript
jenkins jira jquery junit jupyter k8s kafka keycloak kotlin kubectl kubernetes langchain laravel linux
llamaindex macbook macos mariadb matplotlib mattermost memcached minio mongo mongodb mypy mysql neo4j
netlify next-js nextjs nginx node-js nodejs npm numpy nuxt nuxtjs oauth ollama onnx openai openapi opencv
opensearch openssl opentelemetry pagerduty pandas pgvector playwright pnpm podman postgres postgresql
powershell prometheus pulumi pydantic pytest python pytorch qdrant rabbitmq raspberry-pi react-native redis
redshift rubocop rubygems salesforce scikit-learn scipy selenium servicenow shopify snowflake splunk
sqlalchemy sqlite supabase sveltekit systemd tailwindcss tensorflow terraform three-js twilio typescript
ubuntu uvicorn vercel vitest vs-code vscode vue-js vuejs webpack websocket wireguard wordpress xcode yarn
youtube zapier zendesk zookeeper zotero zsh
"""
"""Whatever their case, these are nothing else."""

_CAPITALISED = """
android angular bash bootstrap chrome claude consul copilot cursor cypress drupal excel express flask git
helm hive java julia lambda lua nomad notion obsidian oracle perl php puppet rails react ruby rust sass
scala sentry signal slack spark spring stripe svelte swift tableau tailwind trello unity vagrant vault vite
vue windows zig zoom
"""
"""Tools when they are written with a capital inside a sentence; else they may be words."""

_SUFFIXES = """
inc corp corporation gmbh ltd llc plc ag labs foundation institute university college hospital clinic
bank airlines airways motors pharmaceuticals technologies consulting capital
museum academy ministry agency
"""

_ORGANIZATIONS = """
adidas airbnb alibaba anthropic bmw boeing daimler deepmind deloitte doordash ericsson facebook fedex google
honda huawei hyundai ibm ikea jpmorgan lego lufthansa lyft mckinsey microsoft nasa netflix nike nokia nvidia
paypal pepsico pfizer philips porsche renault ryanair samsung siemens sony spacex starbucks tencent
tesla toyota uber unicef unilever volkswagen volvo walmart xiaomi
"""
"""Companies and institutions whose names, with a capital, are nothing else."""

_PHRASES = """
adobe illustrator/adobe photoshop/amazon s3/amazon web services/android studio/apache airflow/apache kafka/
apache spark/azure devops/claude code/claude desktop/docker compose/docker swarm/gitlab ci/github actions/
github copilot/google analytics/google calendar/google cloud/google docs/google drive/google maps/
google meet/google scholar/google sheets/home assistant/jupyter notebook/microsoft excel/microsoft office/
microsoft teams/microsoft word/raspberry pi/react native/ruby on rails/spring boot/tailwind css/
visual studio/visual studio code/vs code/hugging face
"""

_CONCEPTS = """
access control/artificial intelligence/capacity planning/chain of thought/circuit breaker/
climate change/cloud computing/cognitive behavioral therapy/cognitive load/collaborative filtering/
compound interest/computer vision/context engineering/context window/continuous delivery/
continuous deployment/continuous integration/cross validation/data engineering/data science/
deep learning/dependency injection/design thinking/differential privacy/distributed systems/
distributed tracing/domain driven design/edge computing/end to end encryption/event sourcing/
eventual consistency/feature engineering/few shot learning/fine tuning/functional programming/
game theory/graph theory/information retrieval/infrastructure as code/intermittent fasting/
knowledge graph/knowledge graphs/large language model/large language models/load balancing/
machine learning/message passing/microservices/named entity recognition/natural language processing/
neural network/neural networks/object oriented programming/pair programming/prompt engineering/
quantum computing/rate limiting/reinforcement learning/retrieval augmented generation/semantic search/
sentiment analysis/service mesh/spaced repetition/speech recognition/supervised learning/
technical debt/time series forecasting/transfer learning/unsupervised learning/vector search/zero trust
"""

ALWAYS_TOOLS = frozenset(_ALWAYS.split())
CAPITALISED_TOOLS = frozenset(_CAPITALISED.split())
ORGANIZATIONS = frozenset(_ORGANIZATIONS.split())
ORGANIZATION_SUFFIXES = frozenset(_SUFFIXES.split())


def _phrases(text: str) -> frozenset[str]:
    return frozenset(" ".join(phrase.split()) for phrase in text.split("/"))


CONCEPTS = _phrases(_CONCEPTS)
TOOL_PHRASES = _phrases(_PHRASES)
PHRASE_BEGINNINGS = frozenset(phrase.split()[0] for phrase in CONCEPTS | TOOL_PHRASES)
