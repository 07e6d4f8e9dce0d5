export declare function bundle(folder: string): void
