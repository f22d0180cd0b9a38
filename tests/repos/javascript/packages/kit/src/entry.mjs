export * from './parts.js'
