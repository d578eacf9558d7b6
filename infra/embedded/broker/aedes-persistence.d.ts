/** The package types this file of its own under another path. */
declare module 'aedes-persistence/asyncPersistence.js' {
  import MemoryPersistence from 'aedes-persistence/types/asyncPersistence'
  export default MemoryPersistence
}
