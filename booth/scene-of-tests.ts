import { type BoothOptions, createBooth } from '@landpass/booth'

/** What a test gives to the scene. */
declare const boothOptions: BoothOptions & { readonly hasServer: boolean }
declare const outside: { askForGrant(): Promise<boolean> }

/** A scene with a booth, which tests play in QuickJS. */
export function main() {
  const askForGrant = boothOptions.hasServer ? () => outside.askForGrant() : undefined
  createBooth({ ...boothOptions, askForGrant })
}
