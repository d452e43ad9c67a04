import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

type Json = Readonly<Record<string, unknown>>;

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);
/** What a path item may hold beside operations. */
const ITEM_FIELDS: ReadonlySet<string> = new Set(['$ref', 'summary', 'description', 'servers', 'parameters']);
const PLACES: ReadonlySet<unknown> = new Set(['path', 'query', 'header', 'cookie']);
const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+*-]+(;.*)?$/;
const STATUS = /^([1-5](\d\d|XX)|default)$/;

/** A described API: what is wrong with its description, and its schemas at work. */
export class ApiDescription {
  readonly document: Json;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

  constructor(document: Json) {
    this.document = document;
    this.#ajv.addSchema({ $id: 'api:', ...document }, 'api:');
  }

  /** The operations, as `METHOD /path`. */
  get operations(): ReadonlyMap<string, Json> {
    const operations = new Map<string, Json>();
    for (const [path, item] of Object.entries(object(this.document['paths']))) {
      for (const [method, operation] of Object.entries(object(item))) {
        if (METHODS.has(method)) operations.set(`${method.toUpperCase()} ${path}`, object(operation));
      }
    }
    return operations;
  }

  /** A validator for what an operation takes. Throws when it takes nothing of this type. */
  body(operation: string, type = 'application/json'): ValidateFunction {
    return this.#validator(at(this.#operation(operation), 'requestBody', 'content', type, 'schema'));
  }

  /** A validator for what an operation answers. */
  answer(operation: string, status = '200', type = 'application/json'): ValidateFunction {
    return this.#validator(at(this.#operation(operation), 'responses', status, 'content', type, 'schema'));
  }

  #operation(name: string): Json {
    const operation = this.operations.get(name);
    if (operation === undefined) throw new Error(`${name} is not described`);
    return operation;
  }

  #validator(schema: unknown): ValidateFunction {
    if (typeof schema !== 'object' || schema === null) throw new Error('there is no schema');
    return this.#ajv.compile(withBase(schema) as Json);
  }

  /** What the rules of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.0) find wrong, each with its place. */
  problems(): readonly string[] {
    const problems: string[] = [];
    const { openapi, info, servers, tags, components, security } = this.document;
    const report = (place: string, problem: string): void => {
      problems.push(`${place}: ${problem}`);
    };
    if (!/^3\.1\.\d+$/.test(String(openapi))) report('openapi', 'must be 3.1.x');
    for (const field of ['title', 'version'])
      if (!isText(object(info)[field])) report(`info.${field}`, 'must be a text');
    const license = object(object(info)['license']);
    if ('identifier' in license && 'url' in license) report('info.license', 'has identifier and url');
    for (const server of list(servers)) if (!isText(object(server)['url'])) report('servers', 'needs a url');
    const declared = new Set(list(tags).map((tag) => object(tag)['name']));
    if (declared.size !== list(tags).length) report('tags', 'has a name twice');
    const schemes = new Set(Object.keys(object(object(components)['securitySchemes'])));
    for (const need of list(security)) {
      for (const name of Object.keys(object(need))) if (!schemes.has(name)) report('security', `${name} is unknown`);
    }
    for (const [name, schema] of Object.entries(object(object(components)['schemas']))) {
      this.#checkSchema(schema, `components.schemas.${name}`, report);
    }
    this.#checkPaths(declared, report);
    for (const pattern of textsIn(this.document, 'pattern')) {
      if (/\\[pP]\{/.test(pattern)) report(pattern, 'is a pattern that not every language reads');
    }
    for (const reference of textsIn(this.document, '$ref')) {
      if (!this.#resolves(reference)) report(reference, 'leads nowhere');
    }
    return problems;
  }

  #checkPaths(tags: ReadonlySet<unknown>, report: (place: string, problem: string) => void): void {
    const shapes = new Set<string>();
    const ids = new Set<unknown>();
    for (const [path, item] of Object.entries(object(this.document['paths']))) {
      if (!/^(\/([\w.~-]+|\{\w+\}))+$|^\/$/.test(path)) report(path, 'is no path');
      const shape = path.replace(/\{\w+\}/g, '{}');
      if (shapes.has(shape)) report(path, 'is there twice, but for names of parameters');
      shapes.add(shape);
      for (const field of Object.keys(object(item))) {
        if (!METHODS.has(field) && !ITEM_FIELDS.has(field)) report(`${path} ${field}`, 'is no method');
      }
    }
    for (const [name, operation] of this.operations) {
      const { operationId, responses, tags: own, parameters, requestBody, summary } = operation;
      if (!isText(operationId) || !/^\w+$/.test(operationId)) report(name, 'needs an operationId');
      if (ids.has(operationId)) report(name, `has the operationId ${operationId} of another`);
      ids.add(operationId);
      if (!isText(summary)) report(name, 'needs a summary');
      for (const tag of list(own)) if (!tags.has(tag)) report(name, `has the unknown tag ${String(tag)}`);
      this.#checkParameters(name, list(parameters).map(object), report);
      if (requestBody !== undefined) {
        if (/^(GET|HEAD|DELETE) /.test(name)) report(name, 'has a body although its method has none');
        this.#checkContent(object(requestBody)['content'], `${name} body`, report);
      }
      if (Object.keys(object(responses)).length === 0) report(name, 'needs an answer');
      for (const [status, response] of Object.entries(object(responses))) {
        const place = `${name} ${status}`;
        if (!STATUS.test(status)) report(place, 'is no status');
        if (!isText(object(response)['description'])) report(place, 'needs a description');
        if ('content' in object(response)) this.#checkContent(object(response)['content'], place, report);
      }
    }
  }

  #checkParameters(name: string, parameters: readonly Json[], report: (place: string, problem: string) => void): void {
    const inPath = [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter);
    const declared = parameters.filter((parameter) => parameter['in'] === 'path');
    for (const parameter of inPath) {
      if (!declared.some((each) => each['name'] === parameter)) report(name, `does not describe {${parameter}}`);
    }
    if (declared.length !== inPath.length) report(name, 'describes parameters that its path does not have');
    const seen = new Set<string>();
    for (const parameter of parameters) {
      const place = `${name} ${String(parameter['name'])}`;
      if (!isText(parameter['name']) || !PLACES.has(parameter['in'])) report(place, 'needs a name and a place');
      if (parameter['in'] === 'path' && parameter['required'] !== true) report(place, 'must be required');
      const key = `${String(parameter['in'])} ${String(parameter['name'])}`;
      if (seen.has(key)) report(place, 'is there twice');
      seen.add(key);
      if ('schema' in parameter === 'content' in parameter) report(place, 'needs either schema or content');
      this.#checkSchema(parameter['schema'], place, report);
    }
  }

  #checkContent(content: unknown, place: string, report: (place: string, problem: string) => void): void {
    if (Object.keys(object(content)).length === 0) report(place, 'needs a content type');
    for (const [type, media] of Object.entries(object(content))) {
      if (!MEDIA_TYPE.test(type)) report(place, `${type} is no content type`);
      const { schema } = object(media);
      if (schema !== undefined) this.#checkSchema(schema, `${place} ${type}`, report);
    }
  }

  /** Schemas are JSON Schema 2020-12. */
  #checkSchema(schema: unknown, place: string, report: (place: string, problem: string) => void): void {
    try {
      this.#validator(schema);
    } catch (error) {
      report(place, `is no schema: ${(error as Error).message}`);
    }
  }

  #resolves(reference: string): boolean {
    if (!reference.startsWith('#/')) return false;
    const keys = reference.slice(2).split('/');
    return at(this.document, ...keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))) !== undefined;
  }
}

/** All texts of this name in a document. */
function* textsIn(value: unknown, name: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === name && typeof member === 'string') yield member;
    else yield* textsIn(member, name);
  }
}

/** References within the document, as seen from outside of it. */
function withBase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string' && member.startsWith('#') ? `api:${member}` : withBase(member),
    ]),
  );
}

function at(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce((found: unknown, key) => object(found)[key], value);
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
