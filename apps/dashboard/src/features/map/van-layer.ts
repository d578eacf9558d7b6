import { type CustomLayerInterface, type CustomRenderMethodInput, type Map as MapLibre, MercatorCoordinate } from 'maplibre-gl'
import { drawIcon, ICON_SIZE_PX, ICONS, type IconColors } from './icons.ts'
import type { Marker } from './prepare-markers.ts'

/** Numbers a van: x and y from the origin, image, heading in radians. */
const FLOATS = 4
const BYTES = FLOATS * 4
/** The middle of the fleet's country: places are kept relative to it, where 32 bits tell less than a pixel at every zoom. */
const ORIGIN = MercatorCoordinate.fromLngLat([2.82, 41.98])

const VERTEX = `#version 300 es
uniform mat4 u_matrix;
uniform vec2 u_half; // half an image, in clip space
uniform float u_images;
layout(location = 0) in vec4 a_van;
out vec2 v_at;
void main() {
  vec2 corner = vec2(float(gl_VertexID & 1), float(gl_VertexID >> 1));
  vec2 side = corner * 2.0 - 1.0;
  float turn = a_van.w;
  vec2 turned = vec2(side.x * cos(turn) - side.y * sin(turn), side.x * sin(turn) + side.y * cos(turn));
  vec4 place = u_matrix * vec4(a_van.xy, 0.0, 1.0);
  gl_Position = vec4(place.xy / place.w + turned * vec2(u_half.x, -u_half.y), 0.0, 1.0);
  v_at = vec2((a_van.z + corner.x) / u_images, corner.y);
}`
const FRAGMENT = `#version 300 es
precision mediump float;
uniform sampler2D u_atlas;
in vec2 v_at;
out vec4 color;
void main() {
  color = texture(u_atlas, v_at);
  if (color.a < 0.004) discard;
}`

interface Resources {
  readonly gl: WebGL2RenderingContext
  readonly program: WebGLProgram
  readonly array: WebGLVertexArrayObject
  readonly buffer: WebGLBuffer
  readonly atlas: WebGLTexture
  readonly uniforms: Record<'matrix' | 'half' | 'images' | 'atlas', WebGLUniformLocation | null>
}

/**
 * All vans in one draw call: a square an instance, its image out of one picture of all images. Writing 10,000 of them costs less than a
 * millisecond, where symbols of a GeoJSON source take more than a second to be placed.
 */
export class VanLayer implements CustomLayerInterface {
  readonly id = 'km0-vans'
  readonly type = 'custom' as const
  readonly renderingMode = '2d' as const
  readonly #onDrawn: () => void
  #map: MapLibre | undefined
  #resources: Resources | undefined
  #colors: IconColors
  #scale: number
  #data = new Float32Array(0)
  #count = 0
  #stale = true
  #atlasStale = true

  constructor(options: { readonly colors: IconColors; readonly scale: number; readonly onDrawn: () => void }) {
    this.#colors = options.colors
    this.#scale = options.scale
    this.#onDrawn = options.onDrawn
  }

  /** Draws these, the last one on top, with the next frame. */
  set(markers: readonly Marker[]): void {
    if (this.#data.length < markers.length * FLOATS) this.#data = new Float32Array(Math.ceil(markers.length * 1.25) * FLOATS)
    markers.forEach((marker, index) => {
      const { x, y } = MercatorCoordinate.fromLngLat([marker.lon, marker.lat])
      const at = index * FLOATS
      this.#data[at] = x - ORIGIN.x
      this.#data[at + 1] = y - ORIGIN.y
      this.#data[at + 2] = IMAGE[marker.icon]
      this.#data[at + 3] = marker.icon.endsWith('moving') ? (marker.headingDegrees * Math.PI) / 180 : 0
    })
    this.#count = markers.length
    this.#stale = true
    this.#map?.triggerRepaint()
  }

  onAdd(map: MapLibre): void {
    this.#map = map
    // After a lost context nothing of the old one is left.
    this.#resources = undefined
  }

  onRemove(): void {
    const { gl, program, array, buffer, atlas } = this.#resources ?? {}
    this.#resources = undefined
    this.#map = undefined
    if (gl === undefined) return
    gl.deleteProgram(program ?? null)
    gl.deleteVertexArray(array ?? null)
    gl.deleteBuffer(buffer ?? null)
    gl.deleteTexture(atlas ?? null)
  }

  render(given: WebGLRenderingContext | WebGL2RenderingContext, { defaultProjectionData }: CustomRenderMethodInput): void {
    const gl = given as WebGL2RenderingContext
    const map = this.#map
    if (map === undefined) return
    if (this.#resources?.gl !== gl || !gl.isProgram(this.#resources.program)) {
      this.#resources = build(gl)
      this.#stale = true
      this.#atlasStale = true
    }
    const { program, array, buffer, atlas, uniforms } = this.#resources
    // biome-ignore lint/correctness/useHookAtTopLevel: it is WebGL's, no hook
    gl.useProgram(program)
    gl.activeTexture(gl.TEXTURE0)
    gl.bindTexture(gl.TEXTURE_2D, atlas)
    if (this.#atlasStale) this.#loadAtlas(gl)
    gl.bindVertexArray(array)
    const fresh = this.#stale
    if (fresh) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer)
      gl.bufferData(gl.ARRAY_BUFFER, this.#data.subarray(0, this.#count * FLOATS), gl.DYNAMIC_DRAW)
      this.#stale = false
    }
    const { width, height } = map.getCanvas().getBoundingClientRect()
    const half = (ICON_SIZE_PX / 2) * iconScale(map.getZoom(), this.#scale)
    gl.uniformMatrix4fv(uniforms.matrix, false, fromOrigin(defaultProjectionData.mainMatrix as ArrayLike<number>))
    gl.uniform2f(uniforms.half, (half * 2) / width, (half * 2) / height)
    gl.uniform1f(uniforms.images, ICONS.length)
    gl.uniform1i(uniforms.atlas, 0)
    gl.disable(gl.CULL_FACE)
    gl.disable(gl.DEPTH_TEST)
    gl.enable(gl.BLEND)
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#count)
    gl.bindVertexArray(null)
    if (fresh) this.#onDrawn()
  }

  #loadAtlas(gl: WebGL2RenderingContext): void {
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true)
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false)
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, atlasOf(this.#colors))
    gl.generateMipmap(gl.TEXTURE_2D)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
    this.#atlasStale = false
  }
}

const IMAGE = Object.fromEntries(ICONS.map((icon, index) => [icon, index])) as Record<Marker['icon'], number>

/** How large images are at a zoom, of their size in the atlas. */
export function iconScale(zoom: number, scale: number): number {
  const between = (from: number, to: number, low: number, high: number) =>
    low + (high - low) * Math.min(1, Math.max(0, (zoom - from) / (to - from)))
  return scale * (zoom < 9 ? between(7, 9, 0.72, 0.9) : between(9, 12, 0.9, 1.15))
}

/** The matrix for places that are told from ORIGIN; in 64 bits, before 32 bits would lose what is small. */
function fromOrigin(matrix: ArrayLike<number>): Float32Array {
  const cell = (index: number) => matrix[index] ?? 0
  const result = Float32Array.from({ length: 16 }, (_, index) => cell(index))
  for (let row = 0; row < 4; row += 1) result[12 + row] = cell(row) * ORIGIN.x + cell(4 + row) * ORIGIN.y + cell(12 + row)
  return result
}

function atlasOf(colors: IconColors): ImageData {
  const images = ICONS.map((icon) => drawIcon(icon, colors))
  const side = images[0]?.width ?? 0
  const atlas = new ImageData(side * images.length, side)
  images.forEach((image, index) => {
    for (let row = 0; row < side; row += 1)
      atlas.data.set(image.data.subarray(row * side * 4, (row + 1) * side * 4), (row * side * images.length + index * side) * 4)
  })
  return atlas
}

function build(gl: WebGL2RenderingContext): Resources {
  const program = gl.createProgram()
  for (const [type, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type)
    if (shader === null) throw new Error('the browser gives no shader')
    gl.shaderSource(shader, text)
    gl.compileShader(shader)
    gl.attachShader(program, shader)
  }
  gl.linkProgram(program)
  if (gl.getProgramParameter(program, gl.LINK_STATUS) !== true)
    throw new Error(`the layer of vans cannot be drawn here: ${gl.getProgramInfoLog(program)}`)
  const array = gl.createVertexArray()
  const buffer = gl.createBuffer()
  gl.bindVertexArray(array)
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer)
  gl.enableVertexAttribArray(0)
  gl.vertexAttribPointer(0, FLOATS, gl.FLOAT, false, BYTES, 0)
  gl.vertexAttribDivisor(0, 1)
  const uniform = (name: string) => gl.getUniformLocation(program, `u_${name}`)
  const uniforms = { matrix: uniform('matrix'), half: uniform('half'), images: uniform('images'), atlas: uniform('atlas') }
  return { gl, program, array, buffer, atlas: gl.createTexture(), uniforms }
}
