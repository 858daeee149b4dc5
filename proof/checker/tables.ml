(* The tables of a folder: lfts.dump, sl2vl.dump, paths.psl.

   Fresh tables are for the fabric as it is: whatever is not of it is refused, and so is a file that lacks
   some of it. Those of before are held as strictly against the fabric that they were for, and read as
   they act on the fabric that there is: what they say of switches and LIDs that are gone is left out,
   and what was not there has no path and no service level under them. *)

open Fabric

type age =
  | Fresh
  | Before of Fabric.t (* the fabric that they were for: its own *)
  | Unplaced (* of before, without a fabric of their own: for the same, except for what is gone *)

(* home is the fabric that tables are for. *)
let home f = function Fresh | Unplaced -> f | Before old -> old

(* strict: whatever is not of that fabric is refused. *)
let strict age = age <> Unplaced

(* due says whether tables have to have something of a switch: whether it was there. To take what a file lacks
   for no entries, or for those that come, would prove a mixture of other tables. *)
let due f age s = Hashtbl.mem (home f age).by_guid f.switches.(s).guid

(* ports says how many a switch has in the fabric of its tables. *)
let ports f age guid = match Hashtbl.find_opt (home f age).by_guid guid with Some s -> (home f age).switches.(s).ports | None -> 254

let lacks age = if age = Unplaced then " (if it is new, OLD's own fabric says so: --old-fabric)" else ""

let none = 255
let unset = 254

(* known says whether a LID was one of the fabric of before, with the same numbers. *)
let known age lid = match age with Fresh | Unplaced -> true | Before old -> lid <= top_lid && old.owner.(lid) >= 0

(* Forwarding: [switch * (top_lid + 1) + LID], of LIDs up to the highest in use. *)
type forwarding = {
  width : int;
  port : Bytes.t;
  sized : bool; (* each table ends with the number of its entries, as weft writes it; else lost ones are not seen *)
  choosing : bool; (* the file says that groups.far belongs to it *)
}

let forwarding f age file =
  let top = ref 0 in
  Array.iter (fun e -> top := max !top (last e)) f.endpoints;
  let width = !top + 1 and n = Array.length f.switches in
  let port = Bytes.make (n * width) (Char.chr none) in
  let seen = Array.make n false in
  let at = ref (-2) (* -2: none yet, -1: a switch that is gone *) and count = ref 0 and upto = ref 0 and open_ = ref false in
  let sized = ref None (* how the first block ended *) and choosing = ref false in
  let most = ref 254 (* the ports that the switch had *) and tails = Array.make width "" and guids = Hashtbl.create 1024 in
  let header t =
    if !open_ then Text.bad t "a block begins before the number of LIDs of the one before";
    if not (Text.cut t "[0-") then Text.bad t "a block without the range of its LIDs, like [0-18]";
    upto := Text.number t 0xFFFF;
    if !upto < 0 then Text.bad t "a block without the range of its LIDs, like [0-18]";
    let rec find () =
      if Text.at_end t then Text.bad t "a block without the GUID of its switch"
      else if Text.cut t " guid " then () else (t.Text.at <- t.Text.at + 1; find ()) in
    find ();
    let guid = Text.guid t in
    if strict age && not (Hashtbl.mem (home f age).by_guid guid) then
      Text.bad t "switch 0x%s is not in %s: these tables are for another network" guid (home f age).file;
    (match Hashtbl.find_opt f.by_guid guid with
     | Some s ->
       if seen.(s) then Text.bad t "a second block of switch 0x%s" guid;
       seen.(s) <- true;
       at := s
     | None -> at := -1);
    most := if strict age then ports f age guid else 254;
    open_ := true;
    count := 0
  in
  (* What stands behind an out-port is the same for a LID in all blocks, and is looked at once. *)
  let tail t lid =
    if not (Text.at_end t || (lid < width && tails.(lid) <> "" && Text.same t tails.(lid))) then begin
      let text = Text.rest t in
      Text.spaces t;
      if not (Text.at_end t) then begin
        let kind = Text.cut t "#" && (Text.spaces t; Text.cut t "Channel Adapter" || Text.cut t "Switch" || Text.cut t "Router") in
        let guid = if kind && (Text.spaces t; Text.cut t "portguid") then (Text.spaces t; Some (Text.guid t)) else None in
        if guid = None || not (Text.cut t ":") then
          Text.bad t "behind the out-port is not what dump_lfts.sh writes there, like # Switch portguid 0x0002c90100000000: 'sw-0'";
        if lid < width then begin
          if tails.(lid) <> "" && Hashtbl.find guids lid <> guid then Text.bad t "the port GUID of LID %d is another than in a block before" lid;
          Hashtbl.replace guids lid guid;
          tails.(lid) <- text
        end
      end
    end in
  let row t =
    let lid = Text.hex t in
    if lid < 0 || lid > 0xFFFF || not (Text.cut t " ") then Text.bad t "no line like 0x0001 003: LID and out-port";
    let out = Text.number t 255 in
    if out < 0 || not (Text.at_end t || Text.is_space (Text.peek t)) then Text.bad t "no out-port from 0 to 255 behind the LID";
    if not !open_ then Text.bad t "an entry outside of a block";
    tail t lid;
    if lid > !upto then Text.bad t "LID %d in a block of LIDs up to %d" lid !upto;
    incr count;
    if !at >= 0 && lid < width then begin
      let i = (!at * width) + lid in
      if Bytes.get port i <> Char.chr none then Text.bad t "a second entry for LID %d" lid;
      if out <> none && out > !most then Text.bad t "out-port %d of a switch with %d" out !most;
      Bytes.set port i (Char.chr (if out > f.switches.(!at).ports then none else out))
    end
  in
  let line t =
    if Text.cut t "0x" then row t
    else if (not !open_) && Text.cut t "# groups of ports: groups.far" then choosing := true
    else if Text.blank t || (Text.peek t = '#' && not !open_) then ()
    else if Text.cut t "Unicast lids " then header t
    else
      let n = Text.number t Text.many in
      (* The first form has the largest LID, the second the number of entries. *)
      let largest = n >= 0 && Text.cut t " lids dumped" in
      if largest || (n >= 0 && Text.cut t " valid lids dumped") then begin
        if not !open_ then Text.bad t "the end of a block that did not begin";
        if largest && n <> !upto then Text.bad t "the block is of LIDs up to %d, its last line says otherwise" !upto;
        if not largest && n <> !count then Text.bad t "the block has %d LIDs, its last line says otherwise" !count;
        (* A file is of one form: of the other, a block would hide what it lost. *)
        if !sized = Some largest then Text.bad t "this block ends with %s, and those before do not" (if largest then "the largest LID" else "the number of its LIDs");
        sized := Some (not largest);
        open_ := false
      end
      else Text.bad t "not as dump_lfts.sh writes it: %s" (Text.shown t)
  in
  Text.each file line (fun t ->
    if !open_ then Text.bad t "truncated: a block ends with the number of its LIDs";
    Array.iteri (fun s seen -> if due f age s && not seen then Text.bad t "no table of switch %s%s" (label f s) (lacks age)) seen;
    if not (Array.mem true seen) then Text.bad t "no table of any switch in %s: these tables are for another network" f.file);
  { width; port; sized = !sized = Some true; choosing = !choosing }

(* Lanes: maps by number from 1, and of each switch classes of in-ports with the same maps. *)
type lanes = {
  rows : Bytes.t list; (* the maps, the last first *)
  class_of : int array array; (* [switch][in-port] *)
  map_of : int array array array; (* [switch][class][out-port], from 0 *)
}

(* What stands for no map, as towards a port that is not cabled. *)
let absent = 0x10000

let lane_row t =
  let row = Bytes.create 16 in
  for sl = 0 to 15 do
    Text.spaces t;
    let v = Text.number t 15 in
    if v < 0 then Text.bad t "no 16 lanes from 0 to 15";
    Bytes.set row sl (Char.chr v)
  done;
  if not (Text.blank t) then Text.bad t "more than 16 lanes";
  row

(* lanes reads the maps; fresh is those of the tables that come, for switches that these do not know. *)
let lanes f age fresh file =
  let numbers = Hashtbl.create 64 and rows = ref [] and count = ref 0 in
  let number row =
    match Hashtbl.find_opt numbers row with
    | Some n -> n
    | None ->
      incr count;
      if !count > 0xFFFF then Text.refuse "%s: more than 65535 different maps" file;
      rows := row :: !rows;
      Hashtbl.add numbers row !count;
      !count
  in
  let cell = Array.map (fun s -> Bytes.make ((s.ports + 1) * (s.ports + 1) * 2) '\000') f.switches in
  let at = ref (-2) and seen = Array.make (Array.length f.switches) false in
  let most = ref 254 in
  let line t =
    if Text.cut t "Switch " then begin
      let guid = Text.guid t in
      if strict age && not (Hashtbl.mem (home f age).by_guid guid) then
        Text.bad t "switch 0x%s is not in %s: these maps are for another network" guid (home f age).file;
      most := if strict age then ports f age guid else 254;
      match Hashtbl.find_opt f.by_guid guid with
      | Some s ->
        if seen.(s) then Text.bad t "a second block of switch 0x%s" guid;
        seen.(s) <- true;
        at := s
      | None -> at := -1
    end
    else if Text.blank t || (Text.peek t = '#' && (!at = -2 || Text.cut t "#in out" || Text.cut t "#--")) then ()
    else begin
      let into = Text.number t 254 in
      Text.spaces t;
      let out = Text.number t 254 in
      Text.spaces t;
      if into < 0 || out < 0 || not (Text.cut t ":") then Text.bad t "no line like 1 2 : 0 1 …: in-port, out-port and 16 lanes";
      let row = lane_row t in
      if !at = -2 then Text.bad t "a map before the first switch";
      if into > !most || out > !most then Text.bad t "ports %d and %d of a switch with %d" into out !most;
      if !at >= 0 then begin
        let n = f.switches.(!at).ports in
        if into <= n && out <= n then begin
          let i = 2 * ((into * (n + 1)) + out) in
          if Bytes.get_uint16_le cell.(!at) i <> 0 then Text.bad t "a second map from port %d to port %d" into out;
          Bytes.set_uint16_le cell.(!at) i (number row)
        end
      end
    end
  in
  let finish t =
    (* What a switch or a cable that is new since has: what it will have. *)
    let later s i o =
      match fresh with
      | None -> 0
      | Some l -> (
        match l.map_of.(s).(l.class_of.(s).(i)).(o) with
        | p -> ( match List.nth_opt (List.rev l.rows) p with Some row -> number row | None -> 0))
    in
    let used s p = match f.wired.(s).(p) with Judge.Nothing -> false | _ -> true in
    let class_of = Array.make (Array.length f.switches) [||] and map_of = Array.make (Array.length f.switches) [||] in
    let there s p =
      match age with
      | Fresh | Unplaced -> used s p
      | Before old -> (
        match Hashtbl.find_opt old.by_guid f.switches.(s).guid with
        | None -> false
        | Some o -> p < Array.length old.wired.(o) && (match old.wired.(o).(p) with Judge.Nothing -> false | _ -> true)) in
    Array.iteri (fun s (sw : switch) ->
      let n = sw.ports in
      let there = Array.init (n + 1) (there s) in
      let get i o =
        let v = Bytes.get_uint16_le cell.(s) (2 * ((i * (n + 1)) + o)) in
        let v = if v = 0 && not (there.(o) && (i = 0 || there.(i))) then later s i o else v in
        if v = 0 && used s o && (i = 0 || used s i) then
          Text.bad t "no map from port %d to port %d of switch %s%s" i o (label f s) (lacks age);
        v
      in
      let classes = Hashtbl.create 8 and maps = ref [] in
      let class_at i =
        let row = Array.init (n + 1) (fun o -> if o = 0 || not (used s o) then 0 else get i o) in
        match Hashtbl.find_opt classes row with
        | Some c -> c
        | None ->
          let c = Hashtbl.length classes in
          Hashtbl.add classes row c;
          maps := Array.map (fun v -> if v = 0 then absent else v - 1) row :: !maps;
          c
      in
      class_of.(s) <- Array.init (n + 1) (fun i -> if i = 0 || used s i then class_at i else 0);
      map_of.(s) <- Array.of_list (List.rev !maps)) f.switches;
    { rows = !rows; class_of; map_of }
  in
  Text.each file line finish

(* Service levels: a row for every different one, and the row of every endpoint. *)
type levels = { row : int array; table : Bytes.t array; (* [row], by LID *) last_line : int (* of the file *); sized : bool (* its last line says how many pairs it has; else lost ones are not seen *) }

(* The rows of a file, before they belong to endpoints. *)
type listed = {
  mutable compact : bool;
  mutable pairs : int;
  mutable ended : bool; (* the last line has said how many *)
  by_node : (string, Bytes.t) Hashtbl.t;
  by_end : (string * int, Bytes.t) Hashtbl.t;
}

let levels f age file =
  let last_line = ref 0 in
  let l = { compact = false; pairs = 0; ended = false; by_node = Hashtbl.create 1024; by_end = Hashtbl.create 16 } in
  let top = Array.fold_left (fun n e -> max n (last e)) 0 f.endpoints in
  let interned = Hashtbl.create 1024 in
  let intern row = match Hashtbl.find_opt interned row with Some r -> r | None -> Hashtbl.add interned row row; row in
  (* The row at hand is filled in place, and put away when another source comes. *)
  let own = ref false (* weft wrote the file *) and hand = ref (Bytes.create 0) and put = ref (fun (_ : Bytes.t) -> ()) and key = ref ("", -1) in
  let take t guid port =
    if !key <> (guid, port) then begin
      !put !hand;
      key := (guid, port);
      let fresh = function Some row -> Bytes.copy row | None -> Bytes.make (top + 1) (Char.chr unset) in
      let there f = if port < 0 then Hashtbl.mem f.nodes guid else Hashtbl.mem f.by_port (guid, port) in
      let gone = not (there f) in
      if strict age && not (there (home f age)) then
        Text.bad t "node 0x%s%s is not in %s: these service levels are for another network" guid (if port < 0 then "" else Printf.sprintf ", port %d," port) (home f age).file;
      if port < 0 then (hand := fresh (Hashtbl.find_opt l.by_node guid); put := fun row -> Hashtbl.replace l.by_node guid (intern row))
      else (hand := fresh (Hashtbl.find_opt l.by_end (guid, port)); put := fun row -> Hashtbl.replace l.by_end (guid, port) (intern row));
      if gone then put := ignore
    end
  in
  let source t =
    let guid = Text.guid t in
    let port = if Text.cut t ":" then (let p = Text.number t 254 in if p < 0 then Text.bad t "no port behind the colon" else p) else -1 in
    Text.spaces t;
    take t guid port
  in
  let pair t give =
    if l.ended then Text.bad t "a line behind the last one, which says how many there are";
    l.pairs <- l.pairs + 1;
    let lid = Text.number t 0xFFFF in
    if lid < 0 || not (Text.at_end t || Text.is_space (Text.peek t)) then Text.bad t "no LID up to 65535 behind the source";
    Text.spaces t;
    let level = give () in
    if not (Text.blank t) then Text.bad t "more than source, LID and service level";
    let there = lid <= top && f.owner.(lid) >= 0 in
    if strict age && not (lid <= top_lid && (home f age).owner.(lid) >= 0) then
      Text.bad t "nothing in %s answers to LID %d: these service levels are for another network, or for ports with more LIDs (LMC)" (home f age).file lid;
    if there then begin
      let old = Char.code (Bytes.get !hand lid) in
      if old <> unset && old <> level then Text.bad t "a second service level for a pair";
      Bytes.set !hand lid (Char.chr level)
    end
  in
  let level t () =
    let v = Text.number t 15 in
    if v < 0 then Text.bad t "no service level from 0 to 15" else v in
  let line t =
    if Text.peek t = '0' then (source t; pair t (level t))
    else if Text.cut t "#port " then (source t; pair t (level t))
    else if Text.cut t "#none " then (source t; pair t (fun () -> none))
    else if Text.cut t "#end " then (Text.count t l.pairs ~ended:l.ended "lines about pairs"; l.ended <- true)
    else if t.Text.number = 1 && Text.cut t "#compact" && Text.blank t then (l.compact <- true; own := true)
    else if t.Text.number = 1 && Text.cut t "#weft" && Text.blank t then own := true
    else if Text.blank t || (Text.peek t = '#' && not !own) then ()
    else if Text.peek t = '#' then Text.bad t "weft writes no other comments than #port, #none and #end: %s" (Text.shown t)
    else Text.bad t "no line like 0x0002c90300000010 17 2: node GUID of the source, LID, service level"
  in
  Text.each file line (fun t -> last_line := t.Text.number; !put !hand);
  (* The most specific line wins: that of the port, the node, the switch. *)
  let numbers = Hashtbl.create 64 and table = ref [] and known_rows = Hashtbl.create 64 in
  let merge (e : endpoint) parts =
    let strange = match age with Fresh | Unplaced -> false | Before old -> not (Hashtbl.mem old.by_port (e.node, e.port)) in
    Bytes.init (top + 1) (fun lid ->
      if strange || not (known age lid) then Char.chr none
      else
        match List.find_opt (fun row -> Char.code (Bytes.get row lid) <> unset) parts with
        | Some row -> Bytes.get row lid
        | None -> Char.chr (if l.compact then 0 else unset))
  in
  let row_of (e : endpoint) =
    let parts = List.filter_map Fun.id [
      Hashtbl.find_opt l.by_end (e.node, e.port);
      Hashtbl.find_opt l.by_node e.node;
      if l.compact && fst e.where >= 0 then Hashtbl.find_opt l.by_node f.switches.(fst e.where).guid else None ] in
    let strange = match age with Fresh | Unplaced -> false | Before old -> not (Hashtbl.mem old.by_port (e.node, e.port)) in
    let hash = (strange, parts) in
    match List.find_opt (fun (k, _) -> fst k = strange && List.length (snd k) = List.length parts && List.for_all2 ( == ) (snd k) parts) (Hashtbl.find_all known_rows (Hashtbl.hash hash)) with
    | Some (_, n) -> n
    | None ->
      let row = merge e parts in
      let n = match Hashtbl.find_opt numbers row with
        | Some n -> n
        | None -> let n = Hashtbl.length numbers in Hashtbl.add numbers row n; table := row :: !table; n in
      Hashtbl.add known_rows (Hashtbl.hash hash) (hash, n);
      n
  in
  let row = Array.map row_of f.endpoints in
  { row; table = Array.of_list (List.rev !table); last_line = max 1 !last_line; sized = l.ended || not !own }

(* complete refuses levels in which a pair in scope is not listed. *)
let complete f file l ends =
  let lacks = Array.map (fun row -> Bytes.contains row (Char.chr unset)) l.table in
  List.iter (fun s ->
    if lacks.(l.row.(s)) then
      List.iter (fun e ->
        if e <> s then
          for lid = f.endpoints.(e).lid to last f.endpoints.(e) do
            if Char.code (Bytes.get l.table.(l.row.(s)) lid) = unset then
              Text.refuse "%s:%d: no service level from node 0x%s, port %d, to LID %d (only a file that begins with #compact may leave pairs out)" file l.last_line f.endpoints.(s).node f.endpoints.(s).port lid
          done) ends) ends

type t = { forwarding : forwarding; lanes : lanes; levels : levels; folder : string }

let read f age fresh folder =
  let file name = Filename.concat folder name in
  let forwarding = forwarding f age (file "lfts.dump") in
  let lanes = lanes f age (Option.map (fun t -> t.lanes) fresh) (file "sl2vl.dump") in
  { forwarding; lanes; levels = levels f age (file "paths.psl"); folder }

(* routing is the tables as the proofs take them. *)
let routing more t =
  let { width; port } = t.forwarding and { class_of; map_of; rows } = t.lanes in
  let rows = Array.of_list (List.rev rows) in
  { Judge.entry_of = (fun s d -> Char.code (Bytes.get port ((s * width) + d)));
    more_of = more;
    class_of = (fun s i -> class_of.(s).(i));
    map_of = (fun s c o -> let row = map_of.(s).(c) in if o < Array.length row then row.(o) else absent);
    maps = Array.length rows;
    lane_of = (fun m sl -> if sl < 16 then Char.code (Bytes.get rows.(m) sl) else 15);
    given = { Judge.row = (fun e -> t.levels.row.(e)); table = (fun r d -> Char.code (Bytes.get t.levels.table.(r) d)) } }
