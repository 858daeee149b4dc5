(* Orders of sending by which packets come to wait for each other in a circle: found here, and judged by
   Judge.deadlocks, which is extracted from proof/theories. *)

open Judge

(* A packet that may stand on a lane: who sends it, and how many lanes it passes before. *)
type standing = { way : sending; lanes : (int * int) array; at : int }

let most = 24 (* of the packets that are remembered for one lane that waits for another *)

(* routes gives the lanes of links that a packet takes, up to the first that it comes to again. *)
let route net r e d sl =
  let t = tables_of r in
  let p = { dest = d; level = sl; size = 1; born = 0 } in
  let seen = Hashtbl.create 16 in
  let rec go lane got =
    match next net t lane p with
    | Forward (On (c, v) as x) when not (Hashtbl.mem seen (c, v)) -> Hashtbl.add seen (c, v) (); go x ((c, v) :: got)
    | Forward (On (c, v)) -> (c, v) :: got
    | _ -> got in
  Array.of_list (List.rev (go (From (e, 0)) []))

let levels r lids contract s e d =
  match contract with
  | AnyLevel -> List.init 16 Fun.id
  | Single n -> [ n ]
  | Directed -> [ told r.given s d ]
  | Honored -> if told r.given s d < 16 then List.sort_uniq compare (told r.given s d :: List.map (told r.given e) (lids s)) else []

(* waits is what lanes wait for, each with packets that stand there and do. *)
let waits net r lids contract ends =
  let edges = Hashtbl.create 4096 and next = Hashtbl.create 4096 in
  List.iter (fun e ->
    List.iter (fun d ->
      List.iter (fun s ->
        if s <> e then begin
          let known = ref [] in
          List.iter (fun sl ->
            if sl < 16 then begin
              let lanes = route net r s d sl in
              if not (List.mem lanes !known) then begin
                known := lanes :: !known;
                for i = 0 to Array.length lanes - 2 do
                  let a = lanes.(i) and b = lanes.(i + 1) in
                  let have = Option.value ~default:[] (Hashtbl.find_opt edges (a, b)) in
                  if have = [] then Hashtbl.replace next a (b :: Option.value ~default:[] (Hashtbl.find_opt next a));
                  if List.length have < most then
                    Hashtbl.replace edges (a, b) ({ way = { sender = s; on = 0; receiver = e; address = d; sl_of = sl; after_ = i }; lanes; at = i } :: have)
                done
              end
            end) (levels r lids contract s e d)
        end) ends) (lids e)) ends;
  (edges, next)

(* loop_through is a shortest circle of lanes through one. *)
let loop_through next root =
  let from = Hashtbl.create 64 and queue = Queue.create () in
  Queue.add root queue;
  let rec back x got = if x = root then x :: got else back (Hashtbl.find from x) (x :: got) in
  let rec go () =
    if Queue.is_empty queue then None
    else
      let x = Queue.pop queue in
      let ways = Option.value ~default:[] (Hashtbl.find_opt next x) in
      if List.mem root ways then Some (back x [])
      else begin
        List.iter (fun y -> if not (Hashtbl.mem from y) then (Hashtbl.add from y x; Queue.add y queue)) ways;
        go ()
      end in
  go ()

(* order_of finds in which order packets fill a circle, the last first: one that may be sent when all
   others stand; then one that may be when all but that do; and so on. *)
let order_of edges loop =
  let lanes = Array.of_list loop in
  let n = Array.length lanes in
  let after = Hashtbl.create 16 in
  Array.iteri (fun i x -> Hashtbl.replace after x lanes.((i + 1) mod n)) lanes;
  let rec go left got =
    if left = [] then Some got
    else
      let fits x =
        let others = x :: List.filter (fun y -> y <> x) left in
        List.find_opt (fun w ->
          let rec clear i = i >= w.at || (not (List.mem w.lanes.(i) others) && clear (i + 1)) in
          clear 0) (Option.value ~default:[] (Hashtbl.find_opt edges (x, Hashtbl.find after x))) in
      match List.find_map (fun x -> Option.map (fun w -> (x, w)) (fits x)) left with
      | None -> None
      | Some (x, w) -> go (List.filter (fun y -> y <> x) left) ((x, w) :: got) in
  go loop []

(* find is an order that Judge.deadlocks accepts, with the lane of each packet; None: none was found. *)
let find net r lids contract ends ~blocks =
  let edges, next = waits net r lids contract ends in
  let tried = Hashtbl.create 16 in
  let attempt root =
    match loop_through next root with
    | Some loop when not (Hashtbl.mem tried (List.sort compare loop)) -> (
      Hashtbl.add tried (List.sort compare loop) ();
      match order_of edges loop with
      | None -> None
      | Some order ->
        let sent = List.concat_map (fun (_, w) -> List.init blocks (fun _ -> w.way)) order in
        if deadlocks net r lids contract ends blocks sent then Some order else None)
    | _ -> None in
  let roots = List.sort compare (Hashtbl.fold (fun x _ got -> x :: got) next []) in
  List.find_map attempt roots
