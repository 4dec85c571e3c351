export { main } from './booth'
