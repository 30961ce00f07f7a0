# rtvoice with its model built in: docker build -t rtvoice . && docker run --rm -p 8765:8765 rtvoice
#
# The image holds espeak-ng, which is under the GPL: see NOTICE before passing an image on.

FROM python:3.12-slim AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    RTVOICE_CACHE=/var/cache/rtvoice
WORKDIR /src
COPY pyproject.toml README.md LICENSE NOTICE CHANGELOG.md ./
COPY rtvoice rtvoice
COPY web web
RUN python -m venv /opt/rtvoice && /opt/rtvoice/bin/python -m pip install .
# One model for each kind of processor that may run it: a server takes the one that is faster there.
RUN /opt/rtvoice/bin/rtvoice build --precision f32 && /opt/rtvoice/bin/rtvoice build --precision bf16


FROM python:3.12-slim

RUN useradd --system --uid 10001 --no-create-home rtvoice \
    && install -d -o rtvoice -g rtvoice /var/lib/rtvoice
# Both belong to root: the server reads its program and its model, and can change neither.
COPY --from=build /opt/rtvoice /opt/rtvoice
COPY --from=build /var/cache/rtvoice /var/cache/rtvoice

# Added voices go to /var/lib/rtvoice; mount a volume there to keep them.
ENV PATH=/opt/rtvoice/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    RTVOICE_CACHE=/var/cache/rtvoice \
    RTVOICE_DATA=/var/lib/rtvoice
USER 10001
EXPOSE 8765
HEALTHCHECK --interval=30s --timeout=3s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8765/healthz', timeout=2)"]
CMD ["rtvoice", "serve", "--host", "0.0.0.0"]
