export { default } from './inner'
