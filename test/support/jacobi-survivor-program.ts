export { default } from '../../examples/jacobi-survivor.js'
