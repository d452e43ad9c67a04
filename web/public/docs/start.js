// Swagger UI on this server's own description. No validator: it would send the address of this server to another one.
document.documentElement.classList.toggle('dark-mode', matchMedia('(prefers-color-scheme: dark)').matches);
window.SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
});
