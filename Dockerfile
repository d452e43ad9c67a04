# An image of Sluice; docs/running.md says how to run it.
FROM node:26-slim AS build
WORKDIR /sluice
COPY . .
# Builds the server and the page, too. Of two Nodes the image's own stays.
RUN npm ci && npm prune --omit=dev && rm -rf node_modules/node-linux-*

FROM node:26-slim
ENV SLUICE_BIND=0.0.0.0:1337 SLUICE_DATA_DIR=/data
COPY --from=build /sluice /sluice
RUN ln -s /sluice/bin/sluice.js /usr/local/bin/sluice && mkdir /data && chown node:node /data
USER node
# A sluice.yaml is looked for here, too.
WORKDIR /data
VOLUME /data
EXPOSE 1337
HEALTHCHECK CMD ["node", "-e", "fetch('http://127.0.0.1:1337/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["sluice"]
