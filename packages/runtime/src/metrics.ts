/** prom-client is owned by this room; programs take their instruments from here. */
export { Counter, Gauge, Histogram, Registry } from 'prom-client'
