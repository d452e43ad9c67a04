/** Stylesheets that are loaded with the module that needs them. */
declare module '*.css';
