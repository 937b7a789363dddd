# A worker that runs the flows and the stages. The checkout's data are mounted or pulled by DVC; none are in the image.
#   docker build -t eviflow-worker .
#   docker run --rm -v "$PWD":/checkout -w /checkout eviflow-worker run
FROM python:3.11-slim-bookworm

# onnxruntime and OpenCV need these two; git lets runs carry their commit.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git libgl1 libglib2.0-0 \
    && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home worker
WORKDIR /app

# Dependencies first, so that a change of code does not install them again.
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY components/__init__.py components/__init__.py
COPY flows/__init__.py flows/__init__.py
RUN pip install --no-cache-dir -c requirements.lock -e .

# Not mlflow/: that folder holds the server's files, and its name would shadow the library (see mlflow/README.md).
COPY components components
COPY flows flows
COPY params.yaml dvc.yaml ./

ENV DO_NOT_TRACK=1 \
    DVC_NO_ANALYTICS=1 \
    MLFLOW_DISABLE_TELEMETRY=true \
    PREFECT_SERVER_ANALYTICS_ENABLED=false

USER worker
ENTRYPOINT ["eviflow"]
CMD ["--help"]
