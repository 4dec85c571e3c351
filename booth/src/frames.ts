import { engine } from '@dcl/sdk/ecs'

/**
 * Calls `step` in each frame, with the seconds since the frame before, until it returns a result. A scene has no timers: the
 * systems of the engine are its only clock.
 */
export function eachFrame<Result>(step: (passedS: number) => Result | undefined): Promise<Result> {
  return new Promise((resolve, reject) => {
    const system = (passedS: number) => {
      try {
        const result = step(passedS)
        if (result === undefined) return
        engine.removeSystem(system)
        resolve(result)
      } catch (error) {
        engine.removeSystem(system)
        reject(error)
      }
    }
    engine.addSystem(system)
  })
}

export async function wait(seconds: number): Promise<void> {
  await eachFrame((passedS) => {
    seconds -= passedS
    return seconds > 0 ? undefined : true
  })
}
