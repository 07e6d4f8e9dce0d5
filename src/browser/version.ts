/** Version of this package, for whom no file can be read; a test compares it with package.json. */
export const version = '0.1.0'
