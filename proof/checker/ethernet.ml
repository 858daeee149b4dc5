(* What the proven checker says of a lossless Ethernet network: its tables, and the certificate beside them. The verdict
   is Ethernetjudge's, which is extracted from proof/theories; all else here reads, makes hints, and prints. *)

module Judge = Ethernetjudge
module Tables = Ethertables

let tables_file = "ethernet.tables"

(* A certificate: scope, and a rank for every lane of a link in use. *)
type certificate = { scope : string; lanes : int; rank : Bytes.t (* 4 * (link * lanes + lane): 0: none, else the rank and 1 *) }

let highest = (1 lsl 31) - 2

let certificate (f : Tables.t) file =
  let scope = ref "" and lanes = ref 0 and count = ref 0 and ended = ref false and rank = ref Bytes.empty in
  let header t =
    match t.Text.number with
    | 1 -> if not (Text.cut t "weft ethernet certificate 1" && Text.at_end t) then Text.bad t "this is no certificate of lossless Ethernet: its first line is not \"weft ethernet certificate 1\""
    | 2 ->
      if Text.cut t "endpoints\t" then scope := Text.rest t;
      if !scope <> "hosts" && !scope <> "all" then Text.bad t "expected \"endpoints\", and hosts or all"
    | _ ->
      lanes := if Text.cut t "lanes\t" then Text.number t Tables.most_lanes else -1;
      if !lanes < 0 || not (Text.at_end t) then Text.bad t "expected \"lanes\" and a number from 0 to %d" Tables.most_lanes;
      if !lanes <> Tables.lanes f then Text.bad t "the certificate is for %d lanes, and %s has %d: it is for another network" !lanes f.file (Tables.lanes f);
      rank := Bytes.make (4 * !lanes * Array.length f.far) '\000'
  in
  let row t =
    let device = Tables.text t in
    Tables.tab t;
    let interface = Tables.text t in
    Tables.tab t;
    let v = Tables.number t "a lane" !lanes in
    Tables.tab t;
    let r = Tables.number t "a rank" highest in
    Tables.last t;
    match Hashtbl.find_opt f.by_end (device, interface) with
    | None -> Text.bad t "%s has no cable at %s, %s: this certificate is for another network" f.file device interface
    | Some l ->
      let at = 4 * ((l * !lanes) + v) in
      if Bytes.get_int32_ne !rank at <> 0l then Text.bad t "a second rank of %s, %s, lane %d" device interface v;
      Bytes.set_int32_ne !rank at (Int32.of_int (r + 1));
      incr count
  in
  let line t =
    if t.Text.number <= 3 then header t
    else if !ended then Text.bad t "the certificate ended before"
    (* A device may be called end: its line has more fields. *)
    else if List.length (String.split_on_char '\t' (Text.rest t)) = 2 && Text.cut t "end\t" then begin
      if Text.number t Text.many <> !count || not (Text.at_end t) then Text.bad t "the file has %d ranks, its last line says otherwise" !count;
      ended := true
    end
    else row t
  in
  Text.each file line (fun t ->
    if not !ended then Text.bad t "truncated: the last line of a certificate is \"end\" and the number of ranks");
  { scope = !scope; lanes = !lanes; rank = !rank }

(* rank is what the proofs take: that of a lane of a link, 0 if it has none. *)
let rank c l v = if v < c.lanes then Int32.to_int (Bytes.get_int32_ne c.rank (4 * ((l * c.lanes) + v))) else 0

let is_four prefix = not (String.contains prefix ':')

(* asks says whether hosts of a device send to others of a class: to prefixes of the same kind, IPv4 or IPv6, and not to
   their own alone. *)
let asks (f : Tables.t) scope =
  if scope = "all" then fun _ _ -> true
  else begin
    let four c = is_four (List.hd f.prefixes.(c)) in
    let here = Array.map (fun _ -> [| 0; 0 |]) f.names in
    let kind c = if four c then 0 else 1 in
    Array.iteri (fun c hosts ->
      if hosts then Array.iteri (fun d counts -> if Tables.leaves f c d then counts.(kind c) <- counts.(kind c) + 1) here) f.hosts;
    let alone = Array.mapi (fun c hosts -> hosts && List.length f.prefixes.(c) = 1) f.hosts in
    fun c d -> here.(d).(kind c) > if alone.(c) && Tables.leaves f c d then 1 else 0
  end

let network (f : Tables.t) scope =
  let ways = Array.map (fun _ -> [ None ]) f.names in
  Array.iteri (fun l d -> ways.(d) <- Some l :: ways.(d)) f.far;
  let all = scope = "all" in
  let source = Array.mapi (fun d _ ->
    all || (let rec some c = c < Array.length f.hosts && ((f.hosts.(c) && Tables.leaves f c d) || some (c + 1)) in some 0)) f.names in
  let changed i o m = Option.value ~default:m (Hashtbl.find_opt f.rules ((match i with Some l -> l | None -> -1), o, m)) in
  let rules = Array.map (fun c -> if c then Some changed else None) f.changes in
  { Judge.classes = Array.length f.hosts; devices = Array.length f.names; links = Array.length f.far; marks = Array.length f.marks;
    far = (fun l -> f.far.(l));
    ways = (fun d -> ways.(d));
    next = Tables.next f;
    tunnels = (fun c d -> Option.value ~default:[] (Hashtbl.find_opt f.tunnels (c, d)));
    outer = (fun c -> f.outer.(c));
    lane_of = Tables.lane f;
    rules = (fun d -> rules.(d));
    wanted = (fun c -> all || f.hosts.(c));
    source = (fun d -> source.(d));
    starts = (fun m -> f.starts.(m));
    leaves = Tables.leaves f;
    asks = asks f scope }

let each n f = for i = 0 to n - 1 do f i done

(* walk finds where frames of a class get, a bit for mark * links + link, from those whose first steps [begin_] says; others
   is told of those that get another header. *)
let walk (n : Judge.tables) c inner begin_ others =
  let seen = Tables.bits (n.links * n.marks) and there = Tables.bits (n.devices * n.marks) and stack = Stack.create () in
  let push (x : Judge.place) =
    if x.inner <> inner then others x
    else begin
      let at = (x.mark * n.links) + x.link in
      if not (Tables.bit seen at) then (Tables.set_bit seen at; Stack.push (x.link, x.mark) stack)
    end in
  let arrive d i m =
    let at = (d * n.marks) + m in
    (* A device that changes no marks does the same by whichever way they come. *)
    if n.rules d <> None || not (Tables.bit there at) then begin
      Tables.set_bit there at;
      List.iter push (Judge.onward n c inner d i m)
    end in
  begin_ push arrive;
  while not (Stack.is_empty stack) do
    let l, m = Stack.pop stack in
    arrive (n.far l) (Some l) m
  done;
  seen

let from_hosts (n : Judge.tables) c _ arrive =
  if n.wanted c then each n.devices (fun d -> if n.source d then each n.marks (fun m -> if n.starts m then arrive d None m))

(* latest makes a function of a class that remembers what it said of the last one. *)
let latest f =
  let last = ref None in
  fun c ->
    match !last with
    | Some (x, y) when x = c -> y
    | _ -> let y = f c in last := Some (c, y); y

let wraps (n : Judge.tables) c = let rec some d = d < n.devices && (n.tunnels c d <> [] || some (d + 1)) in some 0

(* hints is where frames get, by class, with another header inside or not. *)
let hints (n : Judge.tables) =
  let entries = Hashtbl.create 16 in
  each n.classes (fun c ->
    if wraps n c then ignore (walk n c false (from_hosts n c) (fun x -> Hashtbl.replace entries x ())));
  let into = Hashtbl.create 16 in
  Hashtbl.iter (fun (x : Judge.place) () -> Hashtbl.add into x.class0 x) entries;
  let inner = Array.init n.classes (fun c ->
    if n.outer c then walk n c true (fun push _ -> List.iter push (Hashtbl.find_all into c)) ignore else Bytes.empty) in
  let plain = latest (fun c -> walk n c false (from_hosts n c) ignore) in
  fun c wrapped -> if wrapped then inner.(c) else plain c

(* witness looks for a path of a frame to where it is lossless: the class, device and mark that it is sent with, and the path. *)
let witness (n : Judge.tables) hints =
  let lossless set =
    let rec some l m = m < n.marks && if l = n.links then some 0 (m + 1) else (n.lane_of m l <> Judge.lossy && Tables.bit set ((m * n.links) + l)) || some (l + 1) m in
    some 0 0 in
  let search c d m =
    let seen = Hashtbl.create 64 and queue = Queue.create () in
    let rec add path = function
      | [] -> None
      | (x : Judge.place) :: r ->
        if Judge.lossless n x then Some (List.rev (x :: path))
        else begin
          if not (Hashtbl.mem seen x) then (Hashtbl.add seen x (); Queue.push (x, path) queue);
          add path r
        end in
    let rec go found =
      match found with
      | Some path -> Some (c, d, m, path)
      | None ->
        if Queue.is_empty queue then None
        else
          let x, path = Queue.pop queue in
          go (add (x :: path) (Judge.onward n x.class0 x.inner (n.far x.link) (Some x.link) x.mark)) in
    go (add [] (Judge.onward n c false d None m)) in
  let rec first c d m =
    if c = n.classes then None
    else if d = n.devices || not (n.wanted c) then next_class c
    else if m = n.marks then first c (d + 1) 0
    else match if Judge.sends n c d m then search c d m else None with
      | None -> first c d (m + 1)
      | found -> found
  and next_class c =
    (* A class of which nothing is lossless anywhere is not looked through. *)
    let rec worth c = if c < n.classes && not (n.wanted c && (wraps n c || lossless (hints c false))) then worth (c + 1) else c in
    first (worth (c + 1)) 0 0 in
  next_class (-1)

(* steps is how many steps frames of a class take at most from each device, and one; 0 where some choice does not arrive. *)
let steps (n : Judge.tables) =
  let rec from_ inner c =
    let steps = Array.make n.devices (-1) in
    let rec of_ d =
      if steps.(d) < 0 then begin
        steps.(d) <- 0; (* who comes here again meanwhile has gone round *)
        let farthest h x = if h = 0 || x = 0 then 0 else max h (x + 1) in
        let start = if Judge.goes_on n c inner d then 1 else 0 in
        let h = List.fold_left (fun h l -> farthest h (of_ (n.far l))) start (n.next c d) in
        steps.(d) <- if inner then h else List.fold_left (fun h (u : Judge.wrap) -> farthest h (wrapped u.into).(d)) h (n.tunnels c d)
      end;
      steps.(d) in
    each n.devices (fun d -> ignore (of_ d));
    steps
  and known = Hashtbl.create 16
  and wrapped c =
    match Hashtbl.find_opt known c with
    | Some s -> s
    | None -> let s = from_ true c in Hashtbl.add known c s; s in
  let plain = latest (from_ false) in
  fun c inner d -> (if inner then wrapped c else plain c).(d)

type verdict = { holds : bool; delivers : bool; faults : Judge.fault list }

let judge (f : Tables.t) c =
  let n = network f c.scope in
  let hints = hints n in
  let mem k inner l m = Tables.bit (hints k inner) ((m * n.links) + l) in
  let k, d, m, path = Option.value ~default:(0, 0, 0, []) (witness n hints) in
  let unsafe = Judge.check_ethernet n mem (rank c) k d m path in
  let lost = Judge.check_arrivals n (steps n) in
  { holds = unsafe = None; delivers = lost = None; faults = List.filter_map Fun.id [ unsafe; lost ] }

let why (f : Tables.t) (w : Judge.fault) =
  let lane l v = Printf.sprintf "%s, lane %d" (Tables.end_ f l) v in
  let prefix () = List.hd f.prefixes.(w.of_class) in
  let where () = Printf.sprintf "at %s, packets to %s with mark %s: " f.names.(w.at_device) (prefix ()) f.marks.(w.with_mark) in
  match w.what with
  | Judge.Unranked (l, v) -> where () ^ "they go on by " ^ lane l v ^ ", which has no rank"
  | Judge.NotRising (l, v, l', v') -> where () ^ "the rank does not rise from " ^ lane l v ^ " to " ^ lane l' v'
  | Judge.Nobody -> "no lossless packet of these endpoints crosses a cable: nothing is proven of any packet"
  | Judge.Unsure -> Printf.sprintf "packets to %s from hosts of %s: some choice of next hops does not arrive" (prefix ()) f.names.(w.at_device)
  | Judge.Unclosed _ | Judge.Unwired _ | Judge.Miscounted -> "internal: a hint is wrong"

let internal (w : Judge.fault) = match w.what with Judge.Unclosed _ | Judge.Unwired _ | Judge.Miscounted -> true | _ -> false

(* beyond counts the prefixes that a verdict is not about. *)
let beyond (f : Tables.t) scope =
  if scope = "all" then 0
  else Array.fold_left ( + ) 0 (Array.mapi (fun c hosts -> if hosts then 0 else List.length f.prefixes.(c)) f.hosts)
