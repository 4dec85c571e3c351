import chromium from '@sparticuz/chromium'

// Unpacks the browser of the locked dependencies into the temporary folder of this process: see browser-program.ts.
process.stdout.write(await chromium.executablePath())
