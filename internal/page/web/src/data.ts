// The data of a report (result/report.go) as package page packs it (internal/page/pack.go).

export type Column = ArrayLike<number>;

export interface Data {
  title: string;
  networks: Network[];
  results: Result[];
}

export interface Network {
  name: string;
  shape: string;
  rates: string[];
  nodes: { name: string[]; short: string[]; guid: string[]; ports: Column; kind: Column; lid: Column; x: Column; y: Column; level: Column; group: Column };
  endpoints: { node: Column; port: Column; lid: Column; lmc: Column; guid: string[]; class: Column; switch: Column; switch_port: Column };
  cables: { between_switches: number; a: Column; a_port: Column; b: Column; b_port: Column; rate: Column; odd: Column; a_interface?: string[]; b_interface?: string[] };
  odd: { kind: string; what: string; places: { text: string; a: number; b: number; cable: number }[] }[];
  tables: TableSet[];
  ethernet?: boolean;
  difference?: { from: string; to: string; by_switch: Column };
}

export interface TableSet {
  name: string;
  verdict: string;
  cycle: { cable: number; back: boolean; vl: number; sl: number; src: number; dst: number; lid: number; by: string }[];
  load: {
    most: number;
    scale: number;
    hottest: { cable: number; back: boolean; channel: string; routes: number; flows: number; rate: string }[];
    there: Column;
    back: Column;
    lanes_there: Column;
    lanes_back: Column;
  };
  paths?: Paths;
  ways?: { class: Column; first: Column; ports: Column; set: Column };
}

export interface Paths {
  lids: Column;
  lids_of: number;
  switches: number;
  ports: Column;
  row: Column;
  rows: number;
  levels?: Column;
  lane_of_sl?: Column;
  sls?: Column;
  in_first?: Column;
  in_class?: Column;
  outs?: Column;
  out_port?: Column;
  map_first?: Column;
  maps?: Column;
}

export interface Result {
  command: string;
  title: string;
  network: number;
  marks?: { gone_nodes: Column; gone_cables: Column; new_nodes: Column; new_cables: Column; by_switch: Column; steps: Column[] };
}

interface Place {
  type: "Uint8" | "Uint16" | "Int32" | "Uint32" | "Float32" | "Float64";
  count: number;
  offset: number;
}

const arrays = { Uint8: Uint8Array, Uint16: Uint16Array, Int32: Int32Array, Uint32: Uint32Array, Float32: Float32Array, Float64: Float64Array };

// unpack reads what the page contains.
export async function unpack(text: string): Promise<Data> {
  const packed = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(stream).arrayBuffer();
  const length = new DataView(bytes).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as { data: unknown; columns: Place[] | null };
  const columns = (head.columns ?? []).map((p) => new arrays[p.type](bytes, 4 + length + p.offset, p.count));
  return place(head.data, columns) as Data;
}

// place puts columns where they belong.
function place(value: unknown, columns: Column[]): unknown {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (typeof value[i] === "object") value[i] = place(value[i], columns);
    return value;
  }
  if (value === null || typeof value !== "object") return value;
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  if (keys.length === 1 && typeof object.column === "number") return columns[object.column];
  for (const key of keys) object[key] = place(object[key], columns);
  return object;
}
