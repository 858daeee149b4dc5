(* The tables of a lossless Ethernet network, as weft verify judged them: ethernet.tables, which docs/proof.md describes. *)

module Judge = Ethernetjudge

type t = {
  file : string;
  names : string array; (* of devices *)
  from : int array; (* by link: the device where it begins *)
  far : int array; (* and where it ends *)
  interfaces : string array; (* and the interface that it leaves *)
  by_end : (string * string, int) Hashtbl.t; (* links, by device and the interface that they leave *)
  marks : string array;
  starts : bool array; (* by mark *)
  lane : Bytes.t; (* mark * links + link *)
  rules : (int * int * int, int) Hashtbl.t; (* in-link, -1 for hosts; out-link; mark: what becomes of it where it changes *)
  changes : bool array; (* by device *)
  hosts : bool array; (* by class *)
  leaves : Bytes.t; (* class * devices + device, a bit each *)
  prefixes : string list array; (* by class, the first one first *)
  next : Bytes.t; (* 4 * (class * devices + device): into sets *)
  sets : int list array; (* of links *)
  tunnels : (int * int, Judge.wrap list) Hashtbl.t; (* class, device *)
  outer : bool array; (* by class *)
}

let most_pairs = 1 lsl 28 (* of a class and a device: each takes four bytes *)
let most_marks = 64
let most_lanes = 8

let bit b i = (Char.code (Bytes.get b (i lsr 3)) lsr (i land 7)) land 1 <> 0
let set_bit b i = Bytes.set b (i lsr 3) (Char.chr (Char.code (Bytes.get b (i lsr 3)) lor (1 lsl (i land 7))))
let bits n = Bytes.make ((n + 7) / 8) '\000'

(* Fields stand between tabs. *)
let tab t = if not (Text.cut t "\t") then Text.bad t "a field is missing, or not as it should be: %s" (Text.shown t)
let last t = if not (Text.at_end t) then Text.bad t "more on the line than belongs there: %s" (Text.shown t)

let number t what below =
  let n = Text.number t (below - 1) in
  if n < 0 then Text.bad t "%s: no number below %d here" what below;
  n

(* text takes a field off the line. *)
let text t =
  let rest = Text.rest t in
  let s = match String.index_opt rest '\t' with Some i -> String.sub rest 0 i | None -> rest in
  t.Text.at <- t.Text.at + String.length s;
  s

(* list calls f for each number of a list like 0-5,7, in which they ascend; - is the empty one. *)
let list t what below f =
  if not (Text.cut t "-") then begin
    let rec go least =
      let a = number t what below in
      let b = if Text.cut t "-" then number t what below else a in
      if a < least || b < a then Text.bad t "a list of which the numbers do not ascend";
      for i = a to b do f i done;
      if Text.cut t "," then go (b + 1) in
    go 0
  end

(* A section is a line with its name and how many lines follow. *)
type section = { name : string; begin_ : int -> unit; line : Text.t -> int -> unit; }

let read file =
  let names = ref [||] and devices = Hashtbl.create 1024 in
  let from = ref [||] and far = ref [||] and interfaces = ref [||] and by_end = Hashtbl.create 1024 in
  let marks = ref [||] and starts = ref [||] and lane = ref Bytes.empty in
  let rules = Hashtbl.create 64 and changes = ref [||] in
  let maps = ref [||] in
  let hosts = ref [||] and leaves = ref Bytes.empty and prefixes = ref [||] and known = Hashtbl.create 1024 in
  let next = ref Bytes.empty and sets = ref [||] in
  let tunnels = Hashtbl.create 16 and known_tunnels = Hashtbl.create 16 and outer = ref [||] in
  let lossy = Char.chr Judge.lossy in
  let link_count () = Array.length !from and mark_count () = Array.length !marks and device_count () = Array.length !names and class_count () = Array.length !hosts in
  let sections = [|
    { name = "devices"; begin_ = (fun n -> names := Array.make n "");
      line = (fun t i ->
        let name = text t in
        last t;
        if Hashtbl.mem devices name then Text.bad t "a second device %s" name;
        Hashtbl.add devices name i;
        !names.(i) <- name) };
    { name = "cables"; begin_ = (fun n -> from := Array.make (2 * n) 0; far := Array.make (2 * n) 0; interfaces := Array.make (2 * n) "");
      line = (fun t i ->
        let one what = let d = number t what (device_count ()) in tab t; (d, text t) in
        let a, at_a = one "a device" in
        tab t;
        let b, at_b = one "a device" in
        last t;
        if a = b then Text.bad t "a cable from a device to itself";
        let link l from_ to_ interface =
          if Hashtbl.mem by_end (!names.(from_), interface) then Text.bad t "a second cable at %s, %s" !names.(from_) interface;
          Hashtbl.add by_end (!names.(from_), interface) l;
          !from.(l) <- from_;
          !far.(l) <- to_;
          !interfaces.(l) <- interface in
        link (2 * i) a b at_a;
        link ((2 * i) + 1) b a at_b) };
    { name = "marks"; begin_ = (fun n -> marks := Array.make n ""; starts := Array.make n false; lane := Bytes.make (n * link_count ()) lossy; changes := Array.make (device_count ()) false);
      line = (fun t i ->
        !starts.(i) <- Text.cut t "start";
        if not (!starts.(i) || Text.cut t "later") then Text.bad t "a mark that is neither start nor later";
        tab t;
        !marks.(i) <- text t;
        last t) };
    { name = "lanes"; begin_ = ignore;
      line = (fun t _ ->
        let m = number t "a mark" (mark_count ()) in
        tab t;
        let v = number t "a lane" most_lanes in
        tab t;
        list t "a link" (link_count ()) (fun l ->
          let at = (m * link_count ()) + l in
          if Bytes.get !lane at <> lossy then Text.bad t "a second lane of mark %d on link %d" m l;
          Bytes.set !lane at (Char.chr v));
        last t) };
    { name = "rules"; begin_ = ignore;
      line = (fun t _ ->
        let i = if Text.cut t "-" then -1 else number t "a link" (link_count ()) in
        tab t;
        let o = number t "a link" (link_count ()) in
        tab t;
        let m = number t "a mark" (mark_count ()) in
        tab t;
        let becomes = number t "a mark" (mark_count ()) in
        last t;
        let d = !from.(o) in
        if i >= 0 && !far.(i) <> d then Text.bad t "link %d does not lead to %s, where link %d begins" i !names.(d) o;
        if becomes = m then Text.bad t "a rule that changes nothing";
        if Hashtbl.mem rules (i, o, m) then Text.bad t "a second rule for the same links and mark";
        Hashtbl.add rules (i, o, m) becomes;
        !changes.(d) <- true) };
    { name = "tunnel maps"; begin_ = (fun n -> maps := Array.make n [||]);
      line = (fun t i ->
        !maps.(i) <- Array.init (mark_count ()) (fun m ->
          if m > 0 then tab t;
          let outers = ref [] in
          list t "a mark" (mark_count ()) (fun x -> outers := x :: !outers);
          List.rev !outers);
        last t) };
    { name = "classes"; begin_ = (fun n ->
        hosts := Array.make n false;
        prefixes := Array.make n [];
        outer := Array.make n false);
      line = (fun t i ->
        !hosts.(i) <- Text.cut t "hosts";
        if not (!hosts.(i) || Text.cut t "devices") then Text.bad t "a class that is neither hosts nor devices";
        last t) };
    { name = "prefixes"; begin_ = (fun _ ->
        leaves := bits (class_count () * device_count ());
        next := Bytes.make (4 * class_count () * device_count ()) '\000');
      line = (fun t _ ->
        let c = number t "a class" (class_count ()) in
        tab t;
        let p = Text.rest t in
        let ok = function '0' .. '9' | 'a' .. 'f' | '.' | ':' | '/' -> true | _ -> false in
        (* One of IPv6 may have both, as ::ffff:10.0.0.0/104 has. *)
        if not (String.for_all ok p && String.contains p '/' && (String.contains p ':' || String.contains p '.')) then Text.bad t "%s is no prefix" (Text.shown t);
        if Hashtbl.mem known p then Text.bad t "a second line for %s" p;
        Hashtbl.add known p ();
        !prefixes.(c) <- p :: !prefixes.(c)) };
    { name = "ends"; begin_ = ignore;
      line = (fun t _ ->
        let c = number t "a class" (class_count ()) in
        tab t;
        list t "a device" (device_count ()) (fun d ->
          let at = (c * device_count ()) + d in
          if bit !leaves at then Text.bad t "%s ends class %d twice" !names.(d) c;
          set_bit !leaves at);
        last t) };
    { name = "next hops"; begin_ = (fun n -> sets := Array.make (n + 1) []);
      line = (fun t i ->
        let d = number t "a device" (device_count ()) in
        tab t;
        list t "a class" (class_count ()) (fun c ->
          let at = 4 * ((c * device_count ()) + d) in
          if Bytes.get_int32_ne !next at <> 0l then Text.bad t "second next hops of %s for class %d" !names.(d) c;
          Bytes.set_int32_ne !next at (Int32.of_int (i + 1)));
        tab t;
        let via = ref [] in
        list t "a link" (link_count ()) (fun l ->
          if !from.(l) <> d then Text.bad t "link %d does not begin at %s" l !names.(d);
          via := l :: !via);
        if !via = [] then Text.bad t "next hops without a link";
        last t;
        !sets.(i + 1) <- List.rev !via) };
    { name = "tunnels"; begin_ = ignore;
      line = (fun t _ ->
        let c = number t "a class" (class_count ()) in
        tab t;
        let d = number t "a device" (device_count ()) in
        tab t;
        let into = number t "a class" (class_count ()) in
        tab t;
        let m = number t "a tunnel map" (Array.length !maps) in
        last t;
        let map = !maps.(m) in
        if Hashtbl.mem known_tunnels (c, d, into, m) then Text.bad t "a second line for the same tunnel";
        Hashtbl.add known_tunnels (c, d, into, m) ();
        !outer.(into) <- true;
        Hashtbl.replace tunnels (c, d) ({ Judge.into; outers = (fun x -> map.(x)) } :: Option.value ~default:[] (Hashtbl.find_opt tunnels (c, d)))) };
  |] in
  let at = ref (-1) and left = ref 0 and size = ref 0 and ended = ref false in
  let line t =
    if t.Text.number = 1 then (if not (Text.cut t "weft ethernet tables 1" && Text.at_end t) then Text.bad t "the first line is not \"weft ethernet tables 1\"")
    else if !ended then Text.bad t "the tables ended before"
    else if !left > 0 then (sections.(!at).line t (!size - !left); decr left)
    else if !at + 1 < Array.length sections then begin
      incr at;
      let s = sections.(!at) in
      if not (Text.cut t s.name) then Text.bad t "expected %S and how many lines follow" s.name;
      tab t;
      (* Every line has a byte at least, so that a number out of reason takes no memory. *)
      size := number t "how many lines follow" (in_channel_length t.Text.input + 1);
      left := !size;
      last t;
      if s.name = "marks" && !size > most_marks then Text.bad t "more than %d marks" most_marks;
      if s.name = "classes" && !size * device_count () > most_pairs then Text.bad t "more classes and devices than can be checked";
      s.begin_ !size
    end
    else begin
      if not (Text.cut t "end\t") then Text.bad t "expected \"end\" and how many lines stand before";
      if Text.number t Text.many <> t.Text.number - 1 || not (Text.at_end t) then Text.bad t "the last line says that others stand before it than the %d that do" (t.Text.number - 1);
      ended := true
    end in
  Text.each file line (fun t ->
    if not !ended then Text.bad t "truncated: the last line of the tables is \"end\" and how many lines stand before");
  Array.iteri (fun c p -> if p = [] then Text.refuse "%s: class %d has no prefix" file c) !prefixes;
  { file; names = !names; from = !from; far = !far; interfaces = !interfaces; by_end; marks = !marks; starts = !starts; lane = !lane; rules; changes = !changes;
    hosts = !hosts; leaves = !leaves; prefixes = Array.map List.rev !prefixes; next = !next; sets = !sets; tunnels; outer = !outer }

let lane f m l = Char.code (Bytes.get f.lane ((m * Array.length f.from) + l))
let next f c d = f.sets.(Int32.to_int (Bytes.get_int32_ne f.next (4 * ((c * Array.length f.names) + d))))
let leaves f c d = bit f.leaves ((c * Array.length f.names) + d)

(* lanes is one more than the highest lane. *)
let lanes f =
  let n = ref 0 in
  Bytes.iter (fun c -> if Char.code c <> Judge.lossy then n := max !n (Char.code c + 1)) f.lane;
  !n

(* end_ names a link for people. *)
let end_ f l = Printf.sprintf "%s, %s" f.names.(f.from.(l)) f.interfaces.(l)
