import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { emptyDir } from '../database/engines.ts'
import { sharedFolder } from '../run/shared-folder.ts'

/** Names a Chromium or Chrome to use instead of the one that the tests bring. */
export const BROWSER_VARIABLE = 'LANDPASS_BROWSER'

/** Names under which a Chromium may stand on the PATH. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome.exe']
const ADVICE = `${BROWSER_VARIABLE}=/path/to/chromium names one to use.`

/** How often a browser is launched that crashes while it starts. */
const LAUNCHES = 3

const ARGUMENTS = [
  // WebGL drawn by the processor, and WebGL alone: the page around it is painted faster without it.
  '--use-gl=angle',
  '--use-angle=swiftshader-webgl',
  // No name but our own address is ever resolved, for pages, workers and the browser itself
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--no-proxy-server',
]

interface Program {
  readonly path: string
  readonly env: Readonly<Record<string, string>>
}

/** Starts the browser that `LANDPASS_BROWSER` names, else the one of the dependencies, else one on the PATH. */
export async function launchBrowser(): Promise<Browser> {
  const program = namedProgram() ?? (await ownProgram()) ?? programOnPath()
  for (let tries = 1; ; tries++) {
    try {
      return await chromium.launch({
        executablePath: program.path,
        env: program.env,
        args: ARGUMENTS,
        chromiumSandbox: false, // root has none
        // Playwright's handlers would keep this process alive; the browser ends when its pipe closes.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      })
    } catch (error) {
      if (tries < LAUNCHES && hasCrashed(error)) continue
      throw new Error(`The browser ${program.path} does not start. ${ADVICE}`, { cause: error })
    }
  }
}

/** Chromium crashes now and then before it opens its first page, once in some thousand launches. */
function hasCrashed(error: unknown): boolean {
  return /signal=SIG(?:SEGV|ABRT|BUS|ILL|TRAP)/.test(String(error))
}

function namedProgram(): Program | undefined {
  const named = process.env[BROWSER_VARIABLE]
  if (!named) return undefined
  if (!fs.existsSync(named)) throw new Error(`${BROWSER_VARIABLE} names ${named}, where there is no browser.`)
  return { path: named, env: ownEnvironment() }
}

/**
 * The Chromium of `@sparticuz/chromium`, unpacked once for the whole run and gone with it; it is built for Linux on
 * x64. It brings whatever it needs beyond what Node.js itself links: libraries, fonts, a Vulkan in software.
 */
async function ownProgram(): Promise<Program | undefined> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const folder = await sharedFolder('browser', unpackInto)
  const home = emptyDir()
  return {
    path: path.join(folder, 'chromium'),
    env: {
      HOME: home,
      TMPDIR: home,
      LD_LIBRARY_PATH: path.join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: path.join(folder, 'fonts.conf'),
    },
  }
}

async function unpackInto(folder: string): Promise<void> {
  const program = fileURLToPath(new URL('./unpack-browser-child.js', import.meta.url))
  // The package unpacks into the system's temporary folder, under names that are the same for everybody, and its
  // libraries only where it believes to be in the cloud that it was made for. So it runs in a process of its own.
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' }
  await promisify(execFile)(process.execPath, [program], { env })
  fs.writeFileSync(path.join(folder, 'fonts.conf'), FONTS)
}

/** The package's fonts and no others, so that a text is equally wide on every machine. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">fonts</dir></fontconfig>
`

function programOnPath(): Program {
  const folders = (process.env.PATH ?? '').split(path.delimiter)
  const found = NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) =>
    fs.existsSync(file),
  )
  if (found) return { path: found, env: ownEnvironment() }
  const platform = `${process.platform} on ${process.arch}`
  throw new Error(
    `The browser of the tests is for linux on x64, this is ${platform}, with none on the PATH. ${ADVICE}`,
  )
}

function ownEnvironment(): Record<string, string> {
  return process.env as Record<string, string> // Node.js promises strings, and no variable that is undefined
}
