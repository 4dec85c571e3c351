/** A typed array of integers. */
interface Integers<Memory> {
  readonly length: number
  subarray(from: number, to: number): Memory
}

/**
 * Memory for integers that one calculation after the other uses. Allocating a typed array, and collecting it as garbage, takes longer
 * than most loops over its numbers.
 */
export class ReusedMemory<Memory extends Integers<Memory>> {
  private readonly make: (length: number) => Memory
  private readonly most: number
  private memory: Memory

  /** @param most numbers that are kept for the next calculation; a longer array is made for each that needs it */
  constructor(make: (length: number) => Memory, most: number) {
    this.make = make
    this.most = most
    this.memory = make(0)
  }

  /**
   * An array for the calculation that begins now, which holds any numbers. The one before must not be used any more.
   *
   * @example
   * const cells = reusedBytes(1000)
   * const first = cells.take(10)
   * const second = cells.take(3) // in the same memory
   */
  take(length: number): Memory {
    if (length > this.most) return this.make(length)
    if (this.memory.length < length) this.memory = this.make(Math.min(this.most, 2 * length))
    return this.memory.subarray(0, length)
  }
}

/** Bytes for some calculation. @param most see {@link ReusedMemory} */
export function reusedBytes(most: number): ReusedMemory<Uint8Array> {
  return new ReusedMemory<Uint8Array>((length) => new Uint8Array(length), most)
}

/** Numbers of 16 bits, from 0 on. */
export function reusedShorts(most: number): ReusedMemory<Uint16Array> {
  return new ReusedMemory<Uint16Array>((length) => new Uint16Array(length), most)
}

/** Integers of 32 bits. */
export function reusedIntegers(most: number): ReusedMemory<Int32Array> {
  return new ReusedMemory<Int32Array>((length) => new Int32Array(length), most)
}
