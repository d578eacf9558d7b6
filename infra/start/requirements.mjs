// What must be on the machine before anything is installed: Node, Java, and Maven as long as its download is missing.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { jarFolder } from '../embedded/jars.mjs'

const LEAST_NODE = 20
const LEAST_JAVA = 17

/**
 * Major version of Java in what `java -version` says; null when it says none.
 * @param {string | null} text
 */
export function javaMajor(text) {
  const version = /version "(\d+)(?:\.(\d+))?/.exec(text ?? '')
  if (version === null) return null
  // Until Java 8 it was 1.8.
  return Number(version[1]) === 1 ? Number(version[2]) : Number(version[1])
}

/**
 * The message for all that is missing, with the ways on; null when nothing is.
 * @param {{node: string, java: string | null, maven: boolean, jarsCached: boolean, kafkaOutside: boolean, redisOutside: boolean}} found
 * @returns {string | null}
 */
export function missingMessage(found) {
  const missing = []
  if (Number(found.node.replace(/^v/, '').split('.')[0]) < LEAST_NODE) missing.push(`Node ${LEAST_NODE} or newer (here is ${found.node})`)
  if (!found.kafkaOutside) {
    const java = javaMajor(found.java)
    if (java === null)
      missing.push(`Java ${LEAST_JAVA} or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17)`)
    else if (java < LEAST_JAVA) missing.push(`Java ${LEAST_JAVA} or newer (here is ${java})`)
  }
  const needsJars = !found.jarsCached && !(found.kafkaOutside && found.redisOutside)
  if (needsJars && !found.maven)
    missing.push('Maven, which fetches Kafka and Redis once (Debian, Ubuntu: apt-get install maven; macOS: brew install maven)')
  if (missing.length === 0) return null
  return `Missing on this machine:
${missing.map((line) => `  - ${line}\n`).join('')}Ways on:
  - install it and start again
  - everything in containers: docker compose up (docs/compose.md)
  - services that run elsewhere: KAFKA_BROKERS=host:port DATABASE_URL=postgres://… REDIS_URL=redis://… MQTT_URL=mqtt://… npm start
`
}

/** @param {string} command @param {string[]} words */
function output(command, words) {
  try {
    return execFileSync(command, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 20_000 })
  } catch {
    return null
  }
}

/** @param {string} name */
function isOnPath(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}

/**
 * Looks at this machine. A Java in JAVA_HOME is put on the PATH when there is none.
 * @param {string} root
 * @returns {string | null} The message for what is missing.
 */
export function checkRequirements(root) {
  const { JAVA_HOME } = process.env
  if (JAVA_HOME && !isOnPath('java')) process.env.PATH = `${join(JAVA_HOME, 'bin')}${delimiter}${process.env.PATH ?? ''}`
  return missingMessage({
    node: process.version,
    // It speaks on standard error.
    java: isOnPath('java') ? output('sh', ['-c', 'java -version 2>&1']) : null,
    maven: isOnPath('mvn'),
    jarsCached: existsSync(jarFolder(root)),
    kafkaOutside: Boolean(process.env.KAFKA_BROKERS),
    redisOutside: Boolean(process.env.REDIS_URL),
  })
}
