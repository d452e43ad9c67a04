#!/usr/bin/env node
// Runs any script of this repository on a Node that is new enough: node bin/with-node.js --test …
import { runWithNode } from './node-runtime.js';

runWithNode(process.argv.slice(2));
