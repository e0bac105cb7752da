// What plugin files use of their runtime, for the compiler's eyes.
declare module "node:child_process";
declare module "node:fs";
declare module "node:path";
declare module "node:url";
declare const process: any;
declare function setTimeout(call: () => void, milliseconds: number): any;
declare function clearTimeout(timer: any): void;
