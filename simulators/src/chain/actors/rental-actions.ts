import type { Rental, RentalTerms } from '../contracts/rentals.ts'
import type { LandToken } from '../contracts/tokens.ts'
import type { Address, Word } from '../encoding/words.ts'
import type { Action, Scene } from './scene.ts'

export const rentOut: Action = (scene) => {
  const { rentals } = scene.contracts
  const land = scene.asset()
  if (!land || !hasRentals(scene)) return undefined
  const { token, id, owner } = land
  const terms = draw(scene, owner, scene.other(owner))
  const sender = terms.signature === '0x' ? owner : terms.tenant
  const run = () => rentals.rent(sender, token, id, terms)
  return [...scene.approval(token, owner, rentals.address, id), { from: sender, to: rentals.address, run }]
}

/** Extends a rent that runs, or rents out again what the lessor did not claim after its end. */
export const rentAgain: Action = (scene) => {
  const { rentals } = scene.contracts
  const found = someRental(scene, () => true)
  if (!found) return undefined
  const { token, id, rental } = found
  const runs = rental.endS >= scene.timeS
  const terms = draw(scene, rental.lessor, runs ? rental.tenant : scene.other(rental.lessor))
  const run = () => rentals.rent(terms.tenant, token, id, terms)
  return [{ from: terms.tenant, to: rentals.address, run }]
}

export const claimRental: Action = (scene) => {
  const { rentals } = scene.contracts
  const found = someRental(scene, ({ endS }) => endS < scene.timeS)
  if (!found) return undefined
  const { token, id, rental } = found
  const run = () => rentals.claim(rental.lessor, token, id)
  return [{ from: rental.lessor, to: rentals.address, run }]
}

export const changeOperatorOfRental: Action = (scene) => {
  const { rentals } = scene.contracts
  const found = someRental(scene, ({ endS }) => endS >= scene.timeS)
  if (!found) return undefined
  const { token, id, rental } = found
  const operator = scene.player()
  const run = () => rentals.setOperator(rental.tenant, token, id, operator)
  return [{ from: rental.tenant, to: rentals.address, run }]
}

/** Land that is sent to the contract without a rent stays there for ever. */
export const loseToRentals: Action = (scene) => {
  const { rentals } = scene.contracts
  const land = scene.parcel()
  if (!land || !hasRentals(scene) || !scene.dice.chance(0.1)) return undefined
  const { token, id, owner } = land
  const run = () => token.transferFrom(owner, owner, rentals.address, id)
  return [{ from: owner, to: token.address, run }]
}

function draw({ dice }: Scene, lessor: Address, tenant: Address): RentalTerms {
  const pricePerDayWei = dice.chance(0.2) ? 0n : BigInt(dice.whole(1, 900)) * 10n ** 18n
  const signature = dice.chance(0.8) ? `${dice.bytes(64)}1c` : '0x'
  return { lessor, tenant, operator: tenant, days: dice.whole(1, 60), pricePerDayWei, signature }
}

function someRental(
  scene: Scene,
  condition: (rental: Rental) => boolean,
): { readonly token: LandToken; readonly id: Word; readonly rental: Rental } | undefined {
  const { rentals, land, estates } = scene.contracts
  return scene.dice.find(rentals.rentals.keys, (key) => {
    const rental = rentals.rentals.get(key)
    const [address, id] = key.split(' ') as [Address, Word]
    if (!rental || !condition(rental)) return undefined
    return { token: address === land.address ? land : estates, id, rental }
  })
}

function hasRentals({ machine }: Scene): boolean {
  return machine.isSince(machine.eras.rentals)
}
