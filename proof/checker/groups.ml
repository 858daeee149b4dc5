(* The ports from which switches choose: groups.far, in the form of ibdiagnet2.far. Private tables are
   refused, and so is whatever contradicts lfts.dump. Whether the switch decides by queues (Free) or by a
   hash (HBF) makes no difference here: any port of the group counts, and the static port. *)

open Fabric

type t = { width : int; lists : int list array; number : Bytes.t (* 2 * (switch * width + LID): which list; 0: none *) }

let none width = { width; lists = [| [] |]; number = Bytes.empty }

(* more is what the proofs take. *)
let more t s d = if Bytes.length t.number = 0 then [] else t.lists.(Bytes.get_uint16_ne t.number (2 * ((s * t.width) + d)))

let read f (fw : Tables.forwarding) file =
  let { Tables.width; port } = fw in
  let n = Array.length f.switches in
  let number = Bytes.make (2 * n * width) '\000' in
  let lists = ref [ [] ] and count = ref 1 and known = Hashtbl.create 64 in
  let list_of ports =
    match Hashtbl.find_opt known ports with
    | Some i -> i
    | None ->
      let i = !count in
      if i > 0xFFFF then Text.refuse "%s: more than 65535 different groups" file;
      incr count;
      lists := ports :: !lists;
      Hashtbl.add known ports i;
      i in
  let at = ref (-1) and seen = Array.make n false and sets = Hashtbl.create 64 in
  let part = ref `Before and table = ref false and last = ref 0 in
  (* A block that lacks its end would hide choices. *)
  let finish t =
    if !at >= 0 then begin
      if not !table then Text.bad t "truncated: the block of %s has no table" (label f !at);
      for lid = !last + 1 to width - 1 do
        if f.owner.(lid) >= 0 && Char.code (Bytes.get port ((!at * width) + lid)) <> Tables.none then
          Text.bad t "truncated: the table of %s ends at LID %d, and it has an entry for LID %d" (label f !at) !last lid
      done
    end in
  let group t =
    let field what = Text.spaces t; let v = Text.number t 32766 in if v < 0 then Text.bad t "no %s of a group" what else v in
    let g = field "number" in
    ignore (field "sub group");
    ignore (field "WHBF");
    let rec ports got =
      if Text.blank t then got
      else
        let p = Text.number t f.switches.(!at).ports in
        if p < 0 then Text.bad t "no port from 0 to %d, which is what %s has" f.switches.(!at).ports (label f !at);
        Text.spaces t;
        if not (Text.cut t "," || Text.at_end t) then Text.bad t "no comma behind port %d" p;
        ports (p :: got) in
    let old = Option.value ~default:[] (Hashtbl.find_opt sets g) in
    Hashtbl.replace sets g (List.sort_uniq compare (ports old)) in
  let entry t =
    if not !table then Text.bad t "an entry before PLFT_NUM, which says of which table";
    if not (Text.cut t "0x") then Text.bad t "no LID in hexadecimal";
    let lid = Text.hex t in
    if lid < 0 || lid > top_lid then Text.bad t "no LID in hexadecimal up to %d" top_lid;
    if lid <= !last && lid <> 0 then Text.bad t "LID %d comes after LID %d" lid !last;
    last := lid;
    Text.spaces t;
    let static = Text.number t 255 in
    if static < 0 then Text.bad t "no static port for LID %d; the line may be cut short" lid;
    Text.spaces t;
    let free = Text.cut t "Free" || Text.cut t "HBF" in
    if not (free || Text.cut t "Static") then Text.bad t "the state of an entry is Static, Free or HBF; the line may be cut short";
    Text.spaces t;
    let g = Text.number t 32766 in
    if not (Text.blank t) then Text.bad t "more than a LID, its static port, state and group";
    if lid < width && f.owner.(lid) >= 0 then begin
      let i = (!at * width) + lid in
      if static <> Char.code (Bytes.get port i) then
        Text.bad t "LID %d goes by port %d here, and by port %d in the forwarding table (255: none)" lid static (Char.code (Bytes.get port i));
      if free then
        match Hashtbl.find_opt sets g with
        | None -> Text.bad t "no group of that number at %s" (label f !at)
        | Some ports ->
          (* A switch does not choose a port that is down. *)
          let up p = match f.wired.(!at).(p) with Judge.Nothing -> false | _ -> p <> static in
          let ports = List.filter up ports in
          Bytes.set_uint16_ne number (2 * i) (if ports = [] then 0 else list_of ports)
    end in
  let line t =
    if Text.blank t || Text.peek t = '#' || Text.cut t "--" then ()
    else if !at < 0 && Text.cut t "File version:" then ()
    else if Text.cut t "Switch" then begin
      finish t;
      Text.spaces t;
      let guid = Text.guid t in
      (match Hashtbl.find_opt f.by_guid guid with
       | None -> Text.bad t "switch 0x%s is not in %s: these groups are for another network" guid f.file
       | Some s ->
         if seen.(s) then Text.bad t "a second block of switch 0x%s" guid;
         seen.(s) <- true;
         at := s);
      Hashtbl.reset sets;
      part := `Text;
      table := false;
      last := 0
    end
    else if !at < 0 then Text.bad t "a line before any switch, which is no line of an ibdiagnet2.far"
    else if Text.cut t "Groups Definition:" then (if !part <> `Text then Text.bad t "second groups of %s" (label f !at); part := `Groups)
    else if Text.cut t "LFT Definition:" then (if !part <> `Groups then Text.bad t "a table of %s that does not follow its groups" (label f !at); part := `Entries)
    else if !part = `Text || Text.cut t "Group" || Text.cut t "LID" then ()
    else if Text.cut t "PLFT_NUM:" then begin
      Text.spaces t;
      if !part <> `Entries then Text.bad t "a table without LFT Definition before it";
      if Text.number t 7 <> 0 || not (Text.at_end t || Text.cut t ",") then Text.bad t "a private table: this program reads table 0 alone";
      if !table then Text.bad t "a second table 0 of %s" (label f !at);
      table := true
    end
    else if !part = `Groups then group t
    else entry t
  in
  Text.each file line finish;
  (* weft writes a block for each; to take a missing one for no choices could hide some. *)
  Array.iteri (fun s seen -> if not seen then Text.refuse "%s: no block of switch %s" file (label f s)) seen;
  { width; lists = Array.of_list (List.rev !lists); number }
