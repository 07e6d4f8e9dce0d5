import { RankweaveError } from '../../errors.js'
import { requireIntact } from '../../messages/datatype/elements.js'
import { type TaskNumbers, taskNumbers } from '../../schedule/lower/dependencies.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import { type Exchange, type Lend, noBytes, type Room, type Take } from '../exchange/exchange.js'

/**
 * The values of a program during one run. When the run starts, it holds the ranks' contributions; when it is done, all
 * values. Frames and combinations are numbered as in the program.
 */
export interface ProgramStore {
  /**
   * Returns the bytes of a frame to send, whose values are there. They must not change until the exchange has sent
   * them: a view of the values, or packed.
   */
  pack(frame: number): Uint8Array
  /**
   * Returns the memory for a frame to receive, exactly as long as the frame; undefined for a frame that is to be
   * unpacked. Called once per run, when the receive is posted; the memory is written until `landed`.
   */
  landing(frame: number): Uint8Array | undefined
  /** Tells whether a frame with a landing need not be copied there if this process can read it in place. */
  lends?(frame: number): boolean
  /**
   * Lends the store such a frame in place.
   *
   * @param release called when its values are no longer read, before the run is done
   */
  lend?(frame: number, bytes: Uint8Array, release: () => void): void
  /**
   * Takes the bytes of a frame without a landing.
   *
   * @param owned whether the store may retain them; otherwise they are lent
   */
  unpack(frame: number, bytes: Uint8Array, owned: boolean): void
  combine(combination: number): void
  /** The frames of a store whose values lie apart, instead of `pack`, `landing` and `unpack`. */
  readonly pieces?: FramePieces
}

/**
 * Frames as messages of any number each, so that values are sent from their own memory. Both ends know number and
 * lengths.
 */
export interface FramePieces {
  /** Returns the messages of a frame to send, whose values are there, under the conditions of `pack`. */
  sent(frame: number): readonly Uint8Array[]
  /**
   * Returns the memory for the messages of a frame to receive, exactly as long as they are; null for one that is not
   * wanted. Called once per run, when the receives are posted.
   */
  received(frame: number): readonly (Uint8Array | null)[]
}

/** The store of a barrier, whose frames and values are empty. */
export const emptyStore: ProgramStore = {
  pack: () => noBytes,
  landing: () => undefined,
  unpack() {},
  combine() {},
}

/** The program of a schedule for this process, and what a run of it leaves to the next one. */
export class PlannedProgram {
  readonly program: ProcessProgram
  /** The number of runs that were begun. */
  calls = 0
  readonly #firstStep: number
  /** A run that is not active. */
  #spare: ProgramRun | undefined
  #memory: object | undefined

  /** @param firstStep the first step of its messages */
  constructor(program: ProcessProgram, firstStep = 0) {
    this.program = program
    this.#firstStep = firstStep
  }

  /** Runs the program once; runs may overlap. */
  run(exchange: Exchange, store: ProgramStore, done: () => void): undefined {
    this.begin(exchange, store, done).post()
  }

  /** Begins a run, which receives nothing until it is posted. */
  begin(exchange: Exchange, store: ProgramStore, done: () => void): ProgramRun {
    this.calls++
    const run = this.#spare ?? new ProgramRun(this.program, this.#firstStep)
    this.#spare = undefined
    run.begin(exchange, store, () => {
      this.#spare = run
      done()
    })
    return run
  }

  /** Notes a completed run, before its values are delivered. */
  noteRun(): void {}

  /** Returns the memory that the last run has left, once. */
  takeMemory(): object | undefined {
    const memory = this.#memory
    this.#memory = undefined
    return memory
  }

  /** Retains the memory of a completed run for the next one, unless frames in it have yet to be sent. */
  retain(memory: object, exchange: Exchange): void {
    if (exchange.isSent) this.#memory = memory
  }
}

/**
 * Runs a process's program repeatedly. All memory that a run needs is allocated with the object, so a start allocates
 * only what the exchange and the store do. One run at a time.
 *
 * A frame leaves as soon as its values are there, whatever else is late. All receives are posted at the start. Arriving
 * data are thus written to their place at once, and large frames are fetched at the same time. Only tasks behind a gate
 * of the program leave, or are posted, when the gate opens.
 */
export class ProgramRun {
  readonly #program: ProcessProgram
  readonly #numbers: TaskNumbers
  readonly #firstStep: number
  readonly #receives: readonly PostedReceive[]
  /** The tasks that wait for nothing. */
  readonly #first: Int32Array
  /** The number of values for which each task still waits. */
  readonly #missing: Int32Array
  /** The tasks whose values are there, in the order in which they became ready. A task enters once per run. */
  readonly #ready: Int32Array
  #readyCount = 0
  #begun = 0
  /**
   * The callbacks by send frame, for frames that a gate waits for: called when the frame is sent. Empty without gates.
   */
  readonly #whenSent: readonly (() => void)[]
  /** The receives whose gate opened before anything was posted. */
  readonly #held: number[] = []
  #isPosted = false
  /** The number of frames that have not arrived and of tasks other than posts that have not been done. */
  #left = 0
  #isWorking = false
  #exchange: Exchange | undefined
  #store: ProgramStore | undefined
  #done: (() => void) | undefined

  /** @param firstStep the step of round 0: a run uses the steps from there up to `firstStep + rounds - 1`. */
  constructor(program: ProcessProgram, firstStep = 0) {
    const { send, receive, combine, gates, dependencies } = program
    this.#program = program
    this.#numbers = taskNumbers(send, receive, combine, gates)
    this.#firstStep = firstStep
    this.#first = firstTasks(program, this.#numbers)
    this.#missing = new Int32Array(dependencies.needs.length)
    this.#ready = new Int32Array(dependencies.needs.length)
    this.#receives = Array.from(receive.peer, (_, frame) => new PostedReceive(this, frame))
    const awaited = gates.sends.length === 0 ? 0 : gates.sends[gates.sends.length - 1]
    this.#whenSent = Array.from({ length: awaited }, (_, frame) => () => this.#sent(frame))
  }

  /** Whether a run has been started and is not done. A run that failed stays active. */
  get isActive(): boolean {
    return this.#exchange !== undefined
  }

  /**
   * Runs the program. `done` is called when the store holds all values and all frames have been handed to the exchange.
   * It is called at once if no other process is involved, otherwise while the last frame is being delivered. Offered
   * frames may still be read then (`exchange.whenSent`). When the exchange fails, the run ends: nothing more is written
   * or called.
   */
  start(exchange: Exchange, store: ProgramStore, done: () => void): void {
    this.begin(exchange, store, done)
    this.post()
  }

  /**
   * Begins a run: the first part of {@link start}, which sends the values that are there. Nothing is received until
   * {@link post}.
   */
  begin(exchange: Exchange, store: ProgramStore, done: () => void): void {
    const { needs } = this.#program.dependencies
    this.#exchange = exchange
    this.#store = store
    this.#done = done
    this.#missing.set(needs)
    this.#begun = 0
    this.#ready.set(this.#first)
    this.#readyCount = this.#first.length
    this.#left = this.#receives.length + this.#numbers.firstPost
    this.#isPosted = false
    this.#held.length = 0
    this.#isWorking = true
    this.#work(exchange, store)
    this.#isWorking = false
  }

  /** Posts the receives: the second part of {@link start}. */
  post(): void {
    const exchange = this.#exchange!
    const store = this.#store!
    const receives = this.#receives
    this.#isWorking = true
    this.#isPosted = true
    // Receives whose frame has arrived call back at once.
    for (let frame = 0; frame < receives.length; frame++)
      if (!this.#isGated(frame)) this.#post(exchange, store, receives[frame])
    for (const frame of this.#held) this.#post(exchange, store, receives[frame])
    this.#work(exchange, store)
    this.#isWorking = false
    if (this.#left === 0) this.#end()
  }

  #isGated(frame: number): boolean {
    const { ofReceive } = this.#program.gates
    return ofReceive.length > 0 && ofReceive[frame] >= 0
  }

  #post(exchange: Exchange, store: ProgramStore, receive: PostedReceive): void {
    const { frame } = receive
    const { peer, round } = this.#program.receive
    const step = this.#firstStep + round[frame]
    if (store.pieces !== undefined) {
      this.#postPieces(exchange, frame, step, store.pieces.received(frame))
      return
    }
    receive.landing = store.landing(frame)
    if (receive.landing === undefined) exchange.take(peer[frame], step, receive.take)
    else {
      const lend = store.lends?.(frame) === true ? receive.lend : undefined
      exchange.takeInto(peer[frame], step, receive.room, receive.landed, lend)
    }
  }

  #postPieces(exchange: Exchange, frame: number, step: number, places: readonly (Uint8Array | null)[]): void {
    const peer = this.#program.receive.peer[frame]
    let missing = places.length
    if (missing === 0) this.arrived(frame, undefined, true)
    const landed = (): void => {
      if (--missing === 0) this.arrived(frame, undefined, true)
    }
    for (const place of places)
      exchange.takeInto(peer, step, (sizeBytes) => fitting(place, sizeBytes), landed)
  }

  /** Notes, for a posted receive, that its frame can be read in place. */
  lent(frame: number, bytes: Uint8Array, release: () => void): void {
    this.#store!.lend!(frame, bytes, release)
    this.arrived(frame, undefined, true)
  }

  /** Notes, for a posted receive, that its frame has arrived. A store that unpacks has not seen it. */
  arrived(frame: number, bytes: Uint8Array | undefined, owned: boolean): void {
    if (bytes !== undefined) this.#store!.unpack(frame, bytes, owned)
    this.#left--
    this.#brought(frame)
  }

  #sent(frame: number): void {
    this.#brought(this.#numbers.sent + frame)
  }

  #brought(bringer: number): void {
    const exchange = this.#exchange!
    const store = this.#store!
    this.#settle(bringer)
    if (this.#isWorking) return
    this.#isWorking = true
    this.#work(exchange, store)
    this.#isWorking = false
    if (this.#left === 0 && this.#isPosted) this.#end()
  }

  /** Makes tasks ready that waited for this bringer. */
  #settle(bringer: number): void {
    const { useStart, use } = this.#program.dependencies
    const missing = this.#missing
    for (let u = useStart[bringer]; u < useStart[bringer + 1]; u++) {
      if (--missing[use[u]] === 0) this.#ready[this.#readyCount++] = use[u]
    }
  }

  #work(exchange: Exchange, store: ProgramStore): void {
    const { firstGate, firstPost, combined, opened } = this.#numbers
    const frames = this.#program.send.peer.length
    while (this.#begun < this.#readyCount && !exchange.hasFailed) {
      const task = this.#ready[this.#begun++]
      if (task >= firstPost) {
        if (this.#isPosted) this.#post(exchange, store, this.#receives[task - firstPost])
        else this.#held.push(task - firstPost)
        continue
      }
      if (task < frames) this.#send(exchange, store, task)
      else if (task < firstGate) {
        store.combine(task - frames)
        this.#settle(combined + task - frames)
      } else this.#settle(opened + task - firstGate)
      this.#left--
    }
  }

  #send(exchange: Exchange, store: ProgramStore, frame: number): void {
    const { peer, round } = this.#program.send
    const step = this.#firstStep + round[frame]
    const sent = frame < this.#whenSent.length ? this.#whenSent[frame] : undefined
    if (store.pieces === undefined) {
      exchange.send(peer[frame], step, store.pack(frame), sent)
      return
    }
    const pieces = store.pieces.sent(frame)
    let missing = pieces.length
    if (missing === 0) sent?.()
    const pieceSent = sent && (() => --missing === 0 && sent())
    for (const piece of pieces) exchange.send(peer[frame], step, piece, pieceSent)
  }

  #end(): void {
    const done = this.#done!
    this.#exchange = undefined
    this.#store = undefined
    this.#done = undefined
    done()
  }
}

function firstTasks({ dependencies }: ProcessProgram, { firstPost }: TaskNumbers): Int32Array {
  const tasks: number[] = []
  dependencies.needs.forEach((needs, task) => {
    if (needs === 0 && task < firstPost) tasks.push(task)
  })
  return Int32Array.from(tasks)
}

/** The receive of one frame, with functions for the exchange that are made once. */
class PostedReceive {
  readonly frame: number
  /** The memory of the frame, until the frame is there. */
  landing: Uint8Array | undefined
  readonly room: Room
  readonly landed: () => void
  readonly take: Take
  readonly lend: Lend

  constructor(run: ProgramRun, frame: number) {
    this.frame = frame
    this.room = (sizeBytes) => fitting(this.landing!, sizeBytes)
    this.landed = () => {
      this.landing = undefined
      run.arrived(frame, undefined, true)
    }
    this.lend = (bytes, release) => {
      this.landing = undefined
      run.lent(frame, bytes, release)
    }
    this.take = (bytes, owned) => run.arrived(frame, bytes, owned)
  }
}

/**
 * Returns the place if a message fills it.
 *
 * @throws ERR_COLLECTIVE_MISMATCH unless a message fills its place; ERR_FABRIC for a place in a buffer that was
 *   detached
 */
function fitting(place: Uint8Array | null, sizeBytes: number): Uint8Array | null {
  if (place === null || place.byteLength === sizeBytes) return place
  requireIntact(place)
  throw new RankweaveError(
    'ERR_COLLECTIVE_MISMATCH',
    `expected a frame of ${place.byteLength} bytes, got ${sizeBytes}: the processes differ in what they run`,
  )
}
