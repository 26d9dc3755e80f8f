// Bundles the pages of stock clients into the folder ../out: chat.js with ai 6, and with ai 7.
import { build } from "esbuild";

for (const version of ["6", "7"]) {
  await build({
    entryPoints: ["chat.js"],
    bundle: true,
    format: "esm",
    outfile: `../out/chat${version}.js`,
    alias: { ai: `ai${version}`, "@ai-sdk/react": `react${version}` },
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warning",
  });
}
