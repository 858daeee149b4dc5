(* Many small cases in one process: weft-proof --cases reads them from standard input, a word or a
   number at a time, and answers each with a line. For tests that compare other judges with this one;
   docs/proof.md describes the form. *)

let most = 1 lsl 10 (* of switches and LIDs, so that no case takes all memory *)
let most_tables = 8

type tables = {
  out : int array array; (* [switch][LID] *)
  map : (int * int * int, Bytes.t) Hashtbl.t; (* switch, in-port, out-port: lanes by service level *)
  level : int array array; (* [host][LID] *)
}

type case = {
  mutable ports : int array; (* of each switch, port 0 not counted *)
  mutable lids : int;
  mutable hosts : (int * int * int * int) list; (* switch, port, first LID, how many; the last first *)
  cables : (int * int, int * int) Hashtbl.t;
  ranks : (int * int * int, int) Hashtbl.t;
  mutable all : tables list; (* the last first *)
  mutable contract : Judge.contract;
  mutable arrive : bool;
}

let empty () =
  { ports = [||]; lids = 0; hosts = []; cables = Hashtbl.create 16; ranks = Hashtbl.create 64; all = []; contract = Judge.Honored; arrive = false }

(* blank: what is left of a line is nothing, or a comment. *)
let blank t = Text.blank t || Text.peek t = '#'

let number t what top =
  Text.spaces t;
  let n = Text.number t top in
  if n < 0 then Text.bad t "no %s from 0 to %d" what top;
  n

let below t what n =
  if n = 0 then Text.bad t "a %s before there is any" what;
  number t what (n - 1)

let switch t c = below t "switch" (Array.length c.ports)
let port t c s = number t "port" c.ports.(s)

let tables t c =
  match c.all with
  | [] -> Text.bad t "a table before the first \"tables\""
  | x :: _ -> x

let row t what n = Array.init n (fun _ -> number t what 255)

let fresh c =
  let hosts = List.length c.hosts in
  { out = Array.make_matrix (Array.length c.ports) (c.lids + 1) 255; map = Hashtbl.create 16; level = Array.make_matrix hosts (c.lids + 1) 0 }

let contract t =
  Text.spaces t;
  if Text.cut t "honored" then Judge.Honored
  else if Text.cut t "directed" then Judge.Directed
  else if Text.cut t "any" then Judge.AnyLevel
  else if Text.cut t "single:" then Judge.Single (number t "service level" 15)
  else Text.bad t "no contract: honored, directed, single:N or any"

let judge t c =
  if c.all = [] then Text.bad t "a case without tables";
  let hosts = Array.of_list (List.rev c.hosts) in
  let start = Array.make (Array.length c.ports) 0 and count = ref 1 in
  Array.iteri (fun s n -> start.(s) <- !count; count := !count + n + 1) c.ports;
  let ends = Array.make !count (-1, 0) in
  Hashtbl.iter (fun (s, p) far -> ends.(start.(s) + p) <- far) c.cables;
  let at = Hashtbl.create 16 in
  Array.iteri (fun e (s, p, _, _) -> Hashtbl.replace at (s, p) e) hosts;
  let wired s p =
    if Hashtbl.mem c.cables (s, p) then Judge.Link (start.(s) + p)
    else match Hashtbl.find_opt at (s, p) with Some e when p > 0 -> Judge.Host e | _ -> Judge.Nothing in
  let net = {
    Judge.wired;
    far = (fun l -> ends.(l));
    hangs = (fun e -> let s, p, _, _ = hosts.(e) in (s, p));
    own = (fun s -> match Hashtbl.find_opt at (s, 0) with Some e -> e | None -> Array.length hosts + s);
  } in
  let routing x =
    let numbers = Hashtbl.create 16 and rows = ref [] and plain = Bytes.make 16 '\000' in
    let number lanes =
      match Hashtbl.find_opt numbers lanes with
      | Some n -> n
      | None ->
        let n = Hashtbl.length numbers in
        Hashtbl.add numbers lanes n;
        rows := lanes :: !rows;
        n in
    let of_turn = Hashtbl.create 16 in
    Hashtbl.iter (fun k lanes -> Hashtbl.replace of_turn k (number lanes)) x.map;
    let default = number plain in
    let rows = Array.of_list (List.rev !rows) in
    { Judge.entry_of = (fun s d -> x.out.(s).(d));
      more_of = (fun _ _ -> []);
      class_of = (fun _ i -> i);
      map_of = (fun s i o -> match Hashtbl.find_opt of_turn (s, i, o) with Some n -> n | None -> default);
      maps = Array.length rows;
      lane_of = (fun m sl -> if sl < 16 then Char.code (Bytes.get rows.(m) sl) else 15);
      given = { Judge.row = Fun.id; table = (fun e d -> x.level.(e).(d)) } } in
  let lids = Array.map (fun (_, _, lid, n) -> List.init n (fun i -> lid + i)) hosts in
  let rank l v =
    let rec switch s = if s + 1 < Array.length start && start.(s + 1) <= l then switch (s + 1) else s in
    let s = switch 0 in
    match Hashtbl.find_opt c.ranks (s, l - start.(s), v) with Some r -> r + 1 | None -> 0 in
  let top = Hashtbl.fold (fun _ r top -> max top (r + 2)) c.ranks 2 in
  let all = List.init (Array.length hosts) Fun.id in
  Judge.check net (List.rev_map routing c.all) rank Fun.id top (fun e -> lids.(e)) c.arrive max_int c.contract all (List.map (fun e -> [ e ]) all)

let why = function
  | Judge.Unranked _ -> "unranked"
  | Judge.NotRising _ -> "not-rising"
  | Judge.Discards -> "discards"
  | Judge.Misled _ -> "misled"
  | Judge.Nobody -> "nobody"
  | Judge.Exhausted | Judge.Unlike _ | Judge.Missed _ -> "internal"

(* line takes one line of a case in; the answer, if it is the last. *)
let line c t =
  let whole () = if not (blank t) then Text.bad t "more than belongs on this line" in
  let answer = ref None in
  if blank t then ()
  else begin
    if Text.cut t "switches " then begin
      if c.ports <> [||] then Text.bad t "the switches are given twice";
      let rec more n = if blank t then [] else if n = most then Text.bad t "more than %d switches" most else let p = number t "number of ports" 255 in p :: more (n + 1) in
      c.ports <- Array.of_list (more 0)
    end
    else if Text.cut t "lids " then begin
      if c.all <> [] || c.hosts <> [] then Text.bad t "\"lids\" goes before hosts and tables";
      c.lids <- number t "highest LID" most
    end
    else if Text.cut t "cable " then begin
      let s = switch t c in
      let p = port t c s in
      let s' = switch t c in
      let p' = port t c s' in
      if p = 0 || p' = 0 then Text.bad t "a cable at port 0";
      if s = s' && p = p' then Text.bad t "a cable with one end";
      if c.hosts <> [] then Text.bad t "cables go before hosts";
      if Hashtbl.mem c.cables (s, p) || Hashtbl.mem c.cables (s', p') then Text.bad t "a second cable at a port";
      Hashtbl.replace c.cables (s, p) (s', p');
      Hashtbl.replace c.cables (s', p') (s, p)
    end
    else if Text.cut t "host " then begin
      if c.all <> [] then Text.bad t "hosts go before tables";
      let s = switch t c in
      let p = port t c s in
      let lid = number t "LID" c.lids in
      let n = number t "number of LIDs" 128 in
      if lid + n - 1 > c.lids then Text.bad t "LIDs above %d" c.lids;
      if Hashtbl.mem c.cables (s, p) || List.exists (fun (s', p', _, _) -> s = s' && p = p') c.hosts then Text.bad t "something else is at port %d of switch %d" p s;
      c.hosts <- (s, p, lid, n) :: c.hosts
    end
    else if Text.cut t "contract" then c.contract <- contract t
    else if Text.cut t "arrive" then c.arrive <- true
    else if Text.cut t "tables" then (if List.length c.all = most_tables then Text.bad t "more than %d tables" most_tables; c.all <- fresh c :: c.all)
    else if Text.cut t "out " then begin
      let x = tables t c in
      let s = switch t c in
      x.out.(s) <- row t "port" (c.lids + 1)
    end
    else if Text.cut t "levels " then begin
      let x = tables t c in
      let e = below t "host" (Array.length x.level) in
      x.level.(e) <- row t "service level" (c.lids + 1)
    end
    else if Text.cut t "map " then begin
      let x = tables t c in
      let s = switch t c in
      let i = port t c s in
      let o = port t c s in
      let lanes = row t "lane" 16 in
      if Array.exists (fun v -> v > 15) lanes then Text.bad t "a lane above 15";
      Hashtbl.replace x.map (s, i, o) (Bytes.init 16 (fun sl -> Char.chr lanes.(sl)))
    end
    else if Text.cut t "rank " then begin
      let s = switch t c in
      let p = port t c s in
      let v = number t "lane" 15 in
      Hashtbl.replace c.ranks (s, p, v) (number t "rank" Certificate.highest)
    end
    else if Text.cut t "judge" then answer := Some (judge t c)
    else Text.bad t "no line of a case: %s" (Text.shown t);
    whole ()
  end;
  !answer

(* run answers case after case, by told; of one that is damaged it says so, and goes on behind its "judge". *)
let run told =
  let c = ref (empty ()) and damaged = ref None in
  let answer text =
    told (Fabric.printable text);
    c := empty ();
    damaged := None in
  Text.lines stdin "standard input" (fun t ->
    let begins = t.Text.at in
    match !damaged with
    | Some why -> if Text.cut t "judge" then answer ("bad " ^ why)
    | None -> (
      match line !c t with
      | None -> ()
      | Some None -> answer "holds"
      | Some (Some (f : Judge.fault)) -> answer ("refused " ^ why f.what)
      | exception Text.Bad why ->
        damaged := Some why;
        t.Text.at <- begins;
        if Text.cut t "judge" then answer ("bad " ^ why)))
    (fun _ -> if !damaged <> None then answer ("bad " ^ Option.get !damaged) else if !c <> empty () then answer "bad truncated: a case ends with \"judge\"");
  0
