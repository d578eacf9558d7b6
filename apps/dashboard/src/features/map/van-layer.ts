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
  readonly program: WebGLProgram
  readonly array: WebGLVertexArrayObject
  readonly buffer: WebGLBuffer
  readonly atlas: WebGLTexture
  readonly uniforms: Record<'matrix' | 'half' | 'images' | 'atlas', WebGLUniformLocation | null>
}

interface View {
  readonly matrix: Float32Array
  readonly zoom: number
  /** Of the map, in CSS pixels. */
  readonly width: number
  readonly height: number
}

/**
 * All vans in one draw call: a square an instance, its image out of one picture of all images. Writing 10,000 of them costs less than a
 * millisecond, where symbols of a GeoJSON source take more than a second to be placed.
 *
 * They are drawn on a canvas of their own above the map's: a fleet moves ten times a second, and the land under it need not be drawn again for it, which
 * costs a quarter of a second where there is no graphics card. As a layer of the map it only learns how the map looks at the land.
 */
export class VanLayer implements CustomLayerInterface {
  readonly id = 'km0-vans'
  readonly type = 'custom' as const
  readonly renderingMode = '2d' as const
  readonly #onDrawn: () => void
  readonly #canvas: HTMLCanvasElement
  #map: MapLibre | undefined
  #gl: WebGL2RenderingContext | undefined
  #resources: Resources | undefined
  #view: View | undefined
  #frame: number | undefined
  #colors: IconColors
  #scale: number
  #data = new Float32Array(0)
  #count = 0
  #stale = true

  constructor(options: { readonly colors: IconColors; readonly scale: number; readonly onDrawn: () => void }) {
    this.#colors = options.colors
    this.#scale = options.scale
    this.#onDrawn = options.onDrawn
    this.#canvas = document.createElement('canvas')
    this.#canvas.className = 'km0-vans'
    this.#canvas.setAttribute('aria-hidden', 'true')
    // Pointers are for the map below.
    this.#canvas.style.cssText = 'position:absolute;inset:0;width:100%;height:100%;pointer-events:none'
    this.#canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault()
      this.#resources = undefined
    })
    this.#canvas.addEventListener('webglcontextrestored', () => this.#drawSoon())
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
    this.#drawSoon()
  }

  onAdd(map: MapLibre): void {
    this.#map = map
    map.getCanvas().after(this.#canvas)
    const gl = this.#canvas.getContext('webgl2', { antialias: false, depth: false })
    if (gl === null) throw new Error('the browser gives no WebGL 2 for the layer of vans')
    this.#gl = gl
  }

  onRemove(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#frame = undefined
    this.#map = undefined
    this.#canvas.remove()
    // A browser keeps few contexts at a time.
    this.#gl?.getExtension('WEBGL_lose_context')?.loseContext()
    this.#gl = undefined
    this.#resources = undefined
  }

  /** The map draws: the fleet moves with it, in the same frame. */
  render(_gl: WebGLRenderingContext | WebGL2RenderingContext, { defaultProjectionData }: CustomRenderMethodInput): void {
    const map = this.#map
    if (map === undefined) return
    const { clientWidth: width, clientHeight: height } = map.getCanvas()
    this.#view = { matrix: fromOrigin(defaultProjectionData.mainMatrix as ArrayLike<number>), zoom: map.getZoom(), width, height }
    this.#draw()
  }

  #drawSoon(): void {
    this.#frame ??= requestAnimationFrame(() => this.#draw())
  }

  #draw(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame)
    this.#frame = undefined
    const gl = this.#gl
    const view = this.#view
    // Before the map's first frame it is not known where anything lies.
    if (gl === undefined || view === undefined || this.#map === undefined || gl.isContextLost()) return
    if (this.#resources === undefined) {
      this.#resources = build(gl)
      this.#loadAtlas(gl, this.#resources.atlas)
      this.#stale = true
    }
    const { program, array, buffer, atlas, uniforms } = this.#resources
    this.#fit()
    gl.clearColor(0, 0, 0, 0)
    gl.clear(gl.COLOR_BUFFER_BIT)
    // biome-ignore lint/correctness/useHookAtTopLevel: it is WebGL's, no hook
    gl.useProgram(program)
    gl.bindTexture(gl.TEXTURE_2D, atlas)
    gl.bindVertexArray(array)
    const fresh = this.#stale
    if (fresh) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer)
      gl.bufferData(gl.ARRAY_BUFFER, this.#data.subarray(0, this.#count * FLOATS), gl.DYNAMIC_DRAW)
      this.#stale = false
    }
    const half = (ICON_SIZE_PX / 2) * iconScale(view.zoom, this.#scale)
    gl.uniformMatrix4fv(uniforms.matrix, false, view.matrix)
    gl.uniform2f(uniforms.half, (half * 2) / view.width, (half * 2) / view.height)
    gl.uniform1f(uniforms.images, ICONS.length)
    gl.uniform1i(uniforms.atlas, 0)
    gl.enable(gl.BLEND)
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA)
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#count)
    if (fresh) this.#onDrawn()
  }

  /** As many pixels as the map has. */
  #fit(): void {
    const { width, height } = this.#map?.getCanvas() ?? this.#canvas
    if (this.#canvas.width !== width) this.#canvas.width = width
    if (this.#canvas.height !== height) this.#canvas.height = height
    this.#gl?.viewport(0, 0, width, height)
  }

  #loadAtlas(gl: WebGL2RenderingContext, atlas: WebGLTexture): void {
    gl.bindTexture(gl.TEXTURE_2D, atlas)
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, true)
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, false)
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, atlasOf(this.#colors))
    gl.generateMipmap(gl.TEXTURE_2D)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE)
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE)
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
  return { program, array, buffer, atlas: gl.createTexture(), uniforms }
}
