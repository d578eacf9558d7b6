import { z } from 'zod'

/** OpenLineage 2-0-2 and the facets that are used, as https://openlineage.io/spec/2-0-2/OpenLineage.json has them. */
const facet = <Shape extends z.ZodRawShape>(name: string, rest: Shape) =>
  z.object({
    _producer: z.url(),
    _schemaURL: z.url().refine((url) => name === '' || url.includes(`/${name}.json#/$defs/${name}`)),
    ...rest,
  })
const dataset = {
  namespace: z.string().regex(/^(file|s3:\/\/\w+|postgres:\/\/[\w.]+:\d+|kafka:\/\/[\w.]+:\d+)$/),
  name: z.string().min(1),
  facets: z.strictObject({ version: facet('DatasetVersionDatasetFacet', { datasetVersion: z.string() }) }).optional(),
}
export const runEvent = z.strictObject({
  eventType: z.enum(['START', 'COMPLETE', 'ABORT', 'FAIL']),
  eventTime: z.iso.datetime(),
  producer: z.url(),
  schemaURL: z.literal('https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent'),
  run: z.strictObject({
    runId: z.uuid(),
    facets: z.strictObject({
      processing_engine: facet('ProcessingEngineRunFacet', { version: z.string(), name: z.string() }),
      nominalTime: facet('NominalTimeRunFacet', { nominalStartTime: z.iso.datetime(), nominalEndTime: z.iso.datetime() }).optional(),
      errorMessage: facet('ErrorMessageRunFacet', { message: z.string(), programmingLanguage: z.string() }).optional(),
      km0_version: facet('', { version: z.number() }).optional(),
    }),
  }),
  job: z.strictObject({
    namespace: z.string().min(1),
    name: z.string().min(1),
    facets: z.strictObject({
      jobType: facet('JobTypeJobFacet', { processingType: z.enum(['BATCH', 'STREAMING']), integration: z.string(), jobType: z.string() }),
      documentation: facet('DocumentationJobFacet', { description: z.string() }),
    }),
  }),
  inputs: z.array(
    z.strictObject({
      ...dataset,
      inputFacets: z.strictObject({ inputStatistics: facet('InputStatisticsInputDatasetFacet', { rowCount: z.number() }) }).optional(),
    }),
  ),
  outputs: z.array(z.strictObject(dataset)),
})

export type RunEvent = z.infer<typeof runEvent>
