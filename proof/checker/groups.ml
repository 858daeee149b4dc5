(* The ports from which switches choose: groups.far, in the form of ibdiagnet2.far. Private tables are
   refused, and so is whatever contradicts lfts.dump. Whether the switch decides by queues (Free) or by a
   hash (HBF) makes no difference here: any port of the group counts, and the static port. *)

open Fabric

(* What a file says: the group of each LID at each switch, and the ports of each group. *)
type t = {
  width : int;
  group_of : Bytes.t; (* 2 * (switch * width + LID): the number of its group and 1; 0: it has none *)
  sets : (int, int list) Hashtbl.t array; (* [switch] ports by number *)
  sized : bool; (* the last line says how many lines of groups and of LIDs there are; else lost ones are not seen *)
}

(* more is what the proofs take: the ports that there are to choose from, beside the static port. While tables are
   replaced, the group of an entry may be of any of them, and so may be the ports that its number stands for. *)
let more f all =
  match all with
  | [] -> fun _ _ -> []
  | { width; _ } :: _ ->
    let n = Array.length f.switches in
    let number = Bytes.make (2 * n * width) '\000' in
    let lists = ref [ [] ] and count = ref 1 and known = Hashtbl.create 64 in
    let list_of ports =
      match Hashtbl.find_opt known ports with
      | Some i -> i
      | None ->
        let i = !count in
        if i > 0xFFFF then Text.refuse "groups of ports: more than 65535 different ones";
        incr count;
        lists := ports :: !lists;
        Hashtbl.add known ports i;
        i in
    for s = 0 to n - 1 do
      (* A switch does not choose a port that is down. *)
      let up p = p < Array.length f.wired.(s) && (match f.wired.(s).(p) with Judge.Nothing -> false | _ -> true) in
      let of_groups = Hashtbl.create 16 in
      for lid = 0 to width - 1 do
        let numbers = List.sort_uniq compare (List.filter (fun g -> g > 0) (List.map (fun t -> Bytes.get_uint16_ne t.group_of (2 * ((s * width) + lid))) all)) in
        if numbers <> [] then begin
          let list = match Hashtbl.find_opt of_groups numbers with
            | Some i -> i
            | None ->
              let ports = List.concat_map (fun t -> List.concat_map (fun g -> Option.value ~default:[] (Hashtbl.find_opt t.sets.(s) (g - 1))) numbers) all in
              let ports = List.filter up (List.sort_uniq compare ports) in
              let i = if ports = [] then 0 else list_of ports in
              Hashtbl.add of_groups numbers i;
              i in
          Bytes.set_uint16_ne number (2 * ((s * width) + lid)) list
        end
      done
    done;
    let lists = Array.of_list (List.rev !lists) in
    fun s d -> lists.(Bytes.get_uint16_ne number (2 * ((s * width) + d)))

(* chooses says whether any switch has a port to choose beside that of its entry. *)
let chooses f (fw : Tables.forwarding) more =
  let some = ref false in
  for s = 0 to Array.length f.switches - 1 do
    for d = 0 to fw.width - 1 do
      if not !some then some := List.exists (fun p -> p <> Char.code (Bytes.get fw.port ((s * fw.width) + d))) (more s d)
    done
  done;
  !some

let read f age (fw : Tables.forwarding) file =
  let { Tables.width; port } = fw in
  let n = Array.length f.switches in
  let group_of = Bytes.make (2 * n * width) '\000' in
  let sets = Array.init n (fun _ -> Hashtbl.create 8) in
  let at = ref (-2) (* -2: none yet, -1: a switch that is gone *) and seen = Array.make n false in
  let most = ref 254 (* the ports that its switch had *) in
  let said = ref 0 and ended = ref false in
  let part = ref `Before and table = ref false and last = ref 0 in
  let here () = if !at >= 0 then label f !at else "its switch" in
  (* An entry that is missing would hide choices: unlisted is the first LID behind the last entry and before upto
     that the switch forwards, or upto. *)
  let unlisted upto =
    let rec from lid =
      if lid >= upto || (f.owner.(lid) >= 0 && Char.code (Bytes.get port ((!at * width) + lid)) <> Tables.none) then lid else from (lid + 1) in
    from (!last + 1) in
  let finish t =
    if !at >= 0 then begin
      if not !table then Text.bad t "truncated: the block of %s has no table" (label f !at);
      let lid = unlisted width in
      if lid < width then Text.bad t "truncated: the table of %s ends at LID %d, and it has an entry for LID %d" (label f !at) !last lid
    end in
  let group t =
    let field what = Text.spaces t; let v = Text.number t 32766 in if v < 0 then Text.bad t "no %s of a group" what else v in
    let g = field "number" in
    ignore (field "sub group");
    ignore (field "WHBF");
    let rec ports got =
      if Text.blank t then got
      else
        let top = !most in
        let p = Text.number t top in
        if p < 0 then Text.bad t "no port from 0 to %d, which is what its switch has" top;
        Text.spaces t;
        if not (Text.cut t "," || Text.at_end t) then Text.bad t "no comma behind port %d" p;
        ports (p :: got) in
    if !at < 0 then ignore (ports [])
    else
      let sets = sets.(!at) in
      Hashtbl.replace sets g (List.sort_uniq compare (ports (Option.value ~default:[] (Hashtbl.find_opt sets g)))) in
  let entry t =
    if not !table then Text.bad t "an entry before PLFT_NUM, which says of which table";
    if not (Text.cut t "0x") then Text.bad t "no LID in hexadecimal";
    let lid = Text.hex t in
    if lid < 0 || lid > top_lid then Text.bad t "no LID in hexadecimal up to %d" top_lid;
    if lid <= !last && !last > 0 then Text.bad t "LID %d comes after LID %d" lid !last;
    if !at >= 0 then begin
      let lost = unlisted (min lid width) in
      if lost < min lid width then Text.bad t "LID %d comes after LID %d, and %s has an entry for LID %d" lid !last (label f !at) lost
    end;
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
    if !at >= 0 && lid < width && f.owner.(lid) >= 0 then begin
      let i = (!at * width) + lid in
      let have = Char.code (Bytes.get port i) in
      if static <> have && (age = Tables.Fresh || static <= f.switches.(!at).ports) then
        Text.bad t "LID %d goes by port %d here, and by port %d in the forwarding table (255: none)" lid static have;
      if free then begin
        if not (Hashtbl.mem sets.(!at) g) then Text.bad t "no group of that number at %s" (label f !at);
        Bytes.set_uint16_ne group_of (2 * i) (g + 1)
      end
    end in
  let line t =
    if Text.cut t "#end " then (Text.count t !said ~ended:!ended "lines of groups and of LIDs"; ended := true)
    else if Text.blank t || (Text.peek t = '#' && !at = -2) || Text.cut t "--" then ()
    else if !at = -2 && Text.cut t "File version:" then ()
    else if Text.cut t "Switch" then begin
      finish t;
      Text.spaces t;
      let guid = Text.guid t in
      let home = Tables.home f age in
      if Tables.strict age && not (Hashtbl.mem home.by_guid guid) then
        Text.bad t "switch 0x%s is not in %s: these groups are for another network" guid home.file;
      most := if Tables.strict age then Tables.ports f age guid else 254;
      (match Hashtbl.find_opt f.by_guid guid with
       | None -> at := -1
       | Some s ->
         if seen.(s) then Text.bad t "a second block of switch 0x%s" guid;
         seen.(s) <- true;
         at := s);
      part := `Text;
      table := false;
      last := 0
    end
    else if !at = -2 then Text.bad t "a line before any switch, which is no line of an ibdiagnet2.far"
    else if Text.cut t "Groups Definition:" then (if !part <> `Text then Text.bad t "second groups of %s" (here ()); part := `Groups)
    else if Text.cut t "LFT Definition:" then (if !part <> `Groups then Text.bad t "a table of %s that does not follow its groups" (here ()); part := `Entries)
    else if !part = `Text || Text.cut t "Group" || Text.cut t "LID" then ()
    else if Text.cut t "PLFT_NUM:" then begin
      Text.spaces t;
      if !part <> `Entries then Text.bad t "a table without LFT Definition before it";
      if Text.number t 7 <> 0 || not (Text.at_end t || Text.cut t ",") then Text.bad t "a private table: this program reads table 0 alone";
      if !table then Text.bad t "a second table 0 of %s" (here ());
      table := true
    end
    else if !ended then Text.bad t "a line behind the last one, which says how many there are"
    else (incr said; if !part = `Groups then group t else entry t)
  in
  Text.each file line (fun t ->
    finish t;
    (* weft writes a block for each; to take a missing one for no choices could hide some. *)
    Array.iteri (fun s seen -> if Tables.due f age s && not seen then Text.bad t "no block of switch %s%s" (label f s) (Tables.lacks age)) seen);
  { width; group_of; sets; sized = !ended }

(* beside reads the groups of a folder's tables. None where they have none: those that lfts.dump names have to be there. *)
let beside f age (t : Tables.t) =
  let file = Filename.concat t.folder "groups.far" in
  if Text.exists file then Some (read f age t.forwarding file)
  else if t.forwarding.choosing then Text.refuse "%s: missing, and %s says that switches choose from the groups of ports in it" file (Filename.concat t.folder "lfts.dump")
  else None
