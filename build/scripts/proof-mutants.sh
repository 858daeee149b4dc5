#!/usr/bin/env bash
# Changes the theories in one place at a time (or in two that go together), a comparison turned, a case dropped,
# a hint believed, an assumption weakened, or one made so strong that nothing meets it, and demands that Coq
# refuses each, and that each theorem of Theorems.v is broken by one: make proof-mutants (ten minutes on two cores). A
# change that is accepted is one that no theorem depends on; a theorem that none breaks is one that may say nothing.
# With a name, such as Checker: the changes of that file alone, and nothing about theorems. With --count: how many
# changes there are.
set -uo pipefail
export LC_ALL=C # lengths are bytes, as Coq counts
cd "$(dirname "$0")/../.."

# file, what stands there, what is put there instead, and so on for more places; with tabs between
mutants() {
	cat <<'LIST'
Checker	if r <? rank c' v' then None	if r <=? rank c' v' then None
Checker	(0 <? r) && (r <? top)	((0 <? r) || true) && (r <? top)
Checker	(0 <? r) && (r <? top)	(0 <? r) && ((r <? top) || true)
Checker	then first_wrong (rising r c v) (fates (far net c) d l)	then if true then None else first_wrong (rising r c v) (fates (far net c) d l)
Checker	if has s x then walk n e d todo s	if true then walk n e d todo s
Checker	(push (snd x) (onward fs) todo) (put s x)	todo (put s x)
Checker	| O => Some {| what := Exhausted; place := (0, 0); lid := d; sl := 0 |}	| O => None
Checker	| Lost => if must_arrive then Some Discards else None	| Lost => None
Checker	if must_arrive && negb (x =? e) then Some (Misled x)	if must_arrive && (x =? e) then Some (Misled x)
Checker	(choices r (fst at_) d)) rs.	[entry_of r (fst at_) d]) rs.
Checker	(snd at_)) o) l))) rs)	(snd at_)) o) l))) [r])
Checker	forallb (fun r => forallb (fun m => rep	forallb (fun r => existsb (fun m => rep
Checker	(row (given r) a =? row (given r) b) &&	
Checker	then add_kinds ks there back	then add_kinds ks there []
Checker	| Directed => add_kinds ks (forward_levels s d) []	| Directed => []
Checker	| AnyLevel => add_kinds ks sixteen []	| AnyLevel => add_kinds ks [0] []
Checker	| Single n => add_kinds ks [n] []	| Single n => []
Checker	all (fun m => if same s m then None else	all (fun m => if true then None else
Checker	if PositiveMap.mem (N.succ_pos e) known then None else	if true then None else
Checker	if somebody k ends then	if true then
Checker	negb (s =? e) && sends_at_all k s e d	sends_at_all k s e d
Checker	| Single n => n <? 16	| Single n => true
Checker	(lids m) some) members [].	[0] some) members [].
Checker	if w =? no_lane then v else w.	w.
Checker	=> i :: upto n (N.succ i) end.	=> upto n (N.succ i) end.
Checker	if m <? maps r then lane_of r m sl else no_lane	if m <=? maps r then lane_of r m sl else no_lane
Checker	match f x with None => all f r | w => w end	match f x with None => None | w => w end
Checker	match f x with None => first_wrong f r | w => w end	match f x with None => None | w => w end
Checker	filter (fun m => negb (m =? e)) g	filter (fun m => m =? e) g
Checker	(None, todo) => starts k ks fixed e d r todo	(None, todo) => (None, todo)
Checker	| None => start e d at_ ls (push l (onward fs) todo)	| None => start e d at_ ls todo
Freedom	next net t l p = Forward l' -> rank l < rank l'.	next net t l p = Forward l' -> rank l <= rank l'.
Freedom	may_send l p -> forall l', size p <= cap l'.	may_send l p -> forall l', 0 <= cap l'.
Freedom	rank l <= top /\ forall t l', may_have t	top <= top /\ forall t l', may_have t
Freedom	Prop := forall l, mtu <= cap l.	Prop := forall l n, n <= cap l.
Freedom	sends l p /\ size p <= mtu.	sends l p /\ mtu <= mtu.
Freedom	sends l p /\ size p <= mtu.	sends l p /\ mtu <= mtu.	Prop := forall l, mtu <= cap l.	Prop := forall l n, n <= cap l.
Freedom	sends l p /\ size p <= mtu.	(sends l p /\ mtu < size p) /\ size p <= mtu.
Verdict	forall mtu cap, roomy mtu cap -> forall st, reachable	forall mtu cap, (forall n, roomy n cap) -> forall st, reachable
Verdict	(~ empty st -> exists a st', inner a = true /\	(~ empty st -> exists a st', (inner a = true \/ a = a) /\
Waiting	forall mtu cap, roomy mtu cap -> forall st what,	forall mtu cap, (forall n, roomy n cap) -> forall st what,
Mixtures	Hypothesis Roomy : roomy mtu cap.	Hypothesis Roomy : forall n, roomy n cap.
Contracts	In (dest p) (lids e) /\ may_use	In (dest p) (lids e) /\ (forall n, size p <= n)%nat /\ may_use
Semantics	(forall l, may_have (t' l)) ->	
Semantics	may_send l p -> used {| now := t; held := h; owed := w |} l + size p <= cap l ->	used {| now := t; held := h; owed := w |} l + size p <= cap l ->
Waiting	exists j, i <= j /\ fewer l (st j) (st (S j)).	exists j, i <= j /\ able l (st j).
Waiting	exists k, forall j, k <= j -> count l' (held (st (S j))) <= count l' (held (st j)).	True.
Waiting	count l (owed (st (S j))) < count l (owed (st j)).	count l (owed (st (S j))) <= count l (owed (st j)).
Waiting	Hypothesis Quiet : forall i, what i <> Writes /\ what i <> Loses.	Hypothesis Quiet : forall i, what i <> Loses /\ what i <> Loses.
Waiting	m <= count l (held (st i)) -> ~ (forall n, gone l i n < m).	m <= S (count l (held (st i))) -> ~ (forall n, gone l i n < m).
Arbitration	wants l l' (st i) -> In l (order i l');	wants l l' (st i) -> In l (l :: order i l');
Arbitration	order i l' = l :: r /\ order (S i) l' = r ++ [l];	order i l' = order i l' /\ order (S i) l' = r ++ [l];
Arbitration	(goes l l' (st i) (st (S i)) \/ ~ wants l l' (st i));	(goes l l' (st i) (st (S i)) \/ True);
Arbitration	(goes l l' (st i) (st (S i)) \/ ~ wants l l' (st i));	(~ wants l l' (st i) /\ ~ wants l l' (st i));
Arbitration	(order (S j) l' = r ++ [l] \/ wants l l' (st j));	(order (S j) l' = r ++ [l] \/ True);
Arbitration	count l' (owed (st j)) = 0 -> fewer l (st j) (st (S j)));	count l' (owed (st j)) = 0 -> True);
Arbitration	next net (now (st j) l) l p <> Forward l') -> fewer l (st j) (st (S j)))	next net (now (st j) l) l p <> Forward l') -> True)
Arbitration	may_send l' p' -> next net t l p <> Forward l'.	may_send l' p' -> next net t l p <> Lost.
Arbitration	forall mtu cap, roomy mtu cap -> forall st what,	forall mtu cap, (forall n, roomy n cap) -> forall st what,
Contracts	(told x s d = l \/ exists i, In i (lids s) /\ told x e i = l)	told x s d = l
Contracts	| AnyLevel => True	| AnyLevel => l = 0
Contracts	| Single n => l = n	| Single n => l = n /\ ls = []
Contracts	| Directed => exists x, In x ls /\ told x s d = l	| Directed => True
Mixtures	(forall l p, In (l, p) (held st) -> born p = 2 * i + 1) -> comes (S i) Writing st.	comes (S i) Writing st.
Mixtures	comes i Writing st -> (forall l, has_after i (now st l)) -> comes i Waiting st	comes i Writing st -> comes i Waiting st
Mixtures	rises net (has_during i) (sent_of (both i)) (rank i) (top i).	rises net (has_after i) (sent_of (both i)) (rank i) (top i).
Deadlocks	cap l' < weight l' (sizes h) + size p.	cap l' <= weight l' (sizes h) + size p.
Deadlocks	cap l' < weight l' (sizes h) + size p.	S (cap l') < weight l' (sizes h) + size p.
Deadlocks	| [] => next net t s p = Forward l /\ s <> l	| [] => next net t s p = Forward l
Deadlocks	weight l (sizes h) + size p <= cap l ->	
Witness	forallb (fun x => negb (stands h x)) (from :: via)	true
Witness	Nat.leb (S (weight l (sizes h))) blocks	true
Witness	Nat.leb (S blocks) (weight x (sizes whole) + size p)	Nat.leb blocks (weight x (sizes whole) + size p)
Witness	negb (sender s =? receiver s) &&	
Witness	(there =? sl_of s) || existsb	true || existsb
Witness	if same_lane s x then None	if false then None
Witness	(stands before l ||	(stands whole l ||
Escape	next net t l p = Forward l' -> rank l < rank l'.	next net t l p = Forward l' -> rank l <= rank l'.
Escape	next net t l p = Forward l' -> rank l < rank l'.	next net t l p = Forward l' -> S (rank l) < rank l'.
Multicast	copies x p c ->	(copies x p c \/ True) ->
Multicast	copies l p c -> In x c -> rank l < rank x.	copies l p c -> In x c -> rank l <= rank x.
Ethernet	goes l p (Some (l', p')) -> rank l < rank l'.	goes l p (Some (l', p')) -> rank l <= rank l'.
Ethernet	amount l (flight st) + since st l + size p <= headroom l.	size p <= headroom l.
Ethernet	if td l || (xoff l <? amount l (map (fun x => (at_ x, what x)) h) + size p)	if td l || false
Ethernet	amount l (map (fun x => (at_ x, what x)) h) <= xon l ->	
Ring	else 16 |}	else 0 |}
Ring	filled ring one_packet sent_ (tables_of (clockwise true 0)) (held full) /\	filled ring one_packet sent_ (tables_of (clockwise true 1)) (held full) /\
Ring	if s =? d then 1 else 2;	if s =? d then 1 else 255;
Ring	if Nat.even i then 0 else 1	if Nat.even i then 0 else 15
Ring	level := 0; size := 0; born := 0 |} in	level := 0; size := 1; born := 0 |} in
Ring	if d =? 3 then 0 else 16	if d =? 3 then 16 else 16
Ring	Nat.leb 5 n && Nat.leb n 8	Nat.leb 5 n && Nat.leb n 7
Ethernet	heard := fun _ => false; since := fun _ => 0 |}.	heard := fun _ => true; since := fun _ => 0 |}.
Ethernet	match to_ x with Some (l', _) => if lane_eq_dec l' l then true else false | None => false end.	true.
EthernetChecker	if rank l v <? rank l' v' then None else	if rank l v <=? rank l' v' then None else
EthernetChecker	else if rank (link x) v =? 0 then inl	else if false then inl
EthernetChecker	if rank l v <? rank a b then Some (l, v) else low	if rank a b <? rank l v then Some (l, v) else low
EthernetChecker	      if inside x then	      if known x then
EthernetChecker	 && (negb (inner x) || outer t (class x)).	.
EthernetChecker	(class x <? classes t) && (link x <? links t) &&	(class x <? classes t) &&
EthernetChecker	(link x <? links t) && (mark x <? marks t) &&	(link x <? links t) &&
EthernetChecker	None => [ways t d] | Some _ => map (fun i => [i]) (ways t d) end.	None => [ways t d] | Some _ => [ways t d] end.
EthernetChecker	match i with None => negb w && sends c d m |	match i with None => false |
EthernetChecker	      if v =? lossy then None else if	      if lossy <? v then None else if
EthernetChecker	(if here c w d m i then rising m l' v' i else None)	None
EthernetChecker	| inr (Some (l', v')) => all_rise c w d m l' v' g	| inr (Some (l', v')) => None
EthernetChecker	match f i with None => count n (N.succ i) f |	match f i with None => count n i f |
EthernetChecker	(forall l, xon l <= xoff l)%nat -> (forall l, mtu <= headroom l)%nat ->	(forall l, xon l <= xoff l)%nat -> (forall l, 0 <= headroom l)%nat ->
EthernetChecker	From d _ => wrapped p = false /\ sends (kind p) d (marked p) = true	From d _ => wrapped p = false
EthernetChecker	(far t l <? devices t) && existsb (is_link l)	existsb (is_link l)
EthernetChecker	&& existsb (is_link l) (ways t (far t l)) then	&& true then
EthernetChecker	if existsb is_host (ways t d) then	if true then
EthernetChecker	if outer t c then flow c true else None	None
EthernetChecker	      | [] => lossless x	      | [] => true
EthernetChecker	(inner y) && (link x =? link y) &&	(inner y) &&
EthernetChecker	if sends c d m && follows	if true && follows
EthernetChecker	v <> lossy /\ (bytes q <= mtu)%nat /\	v <> lossy /\
EthernetChecker	on (placed q k) = v /\ v <> lossy /\ (bytes	on (placed q k) = v /\ (bytes
EthernetChecker	reached x /\ on x = lossy /\	on x = lossy /\
EthernetChecker	sends c d m = true -> In x (onward c false d None m) -> reached x	In x (onward c false d None m) -> reached x
EthernetChecker	(0 <? steps c w d) && (steps c w d <? h).	(steps c w d <? h).
EthernetChecker	(0 <? steps c w d) && (steps c w d <? h).	(0 <? steps c w d) && (steps c w d <=? h).
EthernetChecker	(d <? devices t) && (negb w || outer t c) &&	(d <? devices t) &&
EthernetChecker	  goes_on c w d && forallb	  forallb
EthernetChecker	(fun o => closer c w (far t o) h)	(fun o => true)
EthernetChecker	(fun u => closer (into u) true d h)	(fun u => true)
EthernetChecker	if sure c w d h then None else	if true then None else
EthernetChecker	if negb w && wanted t c && asks t c d then	if false then
Ring	EthernetChecker.next := fun c d => if c =? d then [] else [d];	EthernetChecker.next := fun c d => [];
Ring	match i with None => m | Some _ => 1 end	match i with None => m | Some _ => m end
Ring	EthernetChecker.leaves := fun c d => c =? d;	EthernetChecker.leaves := fun c d => false;
LIST
}

if [[ ${1-} == --count ]]; then
	mutants | wc -l
	exit
fi
command -v coqc >/dev/null || { echo "proof-mutants: no Coq; on Debian: apt-get install coq" >&2; exit 1; }
theories=(Network Semantics Freedom Contracts Checker Soundness Verdict Waiting Arbitration Mixtures Deadlocks Witness Escape Multicast Ethernet EthernetChecker Ring)

root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/whole"
cp proof/theories/*.v "$work/whole"
cd "$work" # where Coq leaves its cache
declare -A needs
for name in "${theories[@]}"; do
	coqc -Q "$work/whole" WeftProof "$work/whole/$name.v" >/dev/null || exit 1
	needs[$name]=$(sed -nE 's/^From WeftProof Require( Import)? (.*)\.$/\2/p' "$work/whole/$name.v" | xargs)
done

# same A B: how many bytes A and B have in common at their beginning
same() {
	local n=0
	while [[ $n -lt ${#1} && ${1:n:1} == "${2:n:1}" ]]; do n=$((n + 1)); done
	echo "$n"
}

# change NUMBER FIELDS...: makes a change, as the list has it, in a copy of its own, and writes what comes of it to
# NUMBER.said; and where a proof fails, theory and byte of the change, and theory and name of the proof, to NUMBER.broken
change() {
	local number=$1 name=$2 text shown='' first='' old new at
	local one=$work/$number
	shift
	local fields=("$@")
	text=$(cat "$work/whole/$name.v")
	for ((at = 1; at < ${#fields[@]}; at += 2)); do
		old=${fields[at]} new=${fields[at + 1]-}
		if [[ $text != *"$old"* ]]; then
			echo "proof-mutants: $name.v has no: $old"
			return
		fi
		if [[ -z $first ]]; then
			first=${text%%"$old"*}
			first=$((${#first} + $(same "$old" "$new")))
		fi
		text=${text/"$old"/"$new"}
		shown+="${shown:+; }${old:0:90} -> ${new:0:90}"
	done
	cp -r "$work/whole" "$one"
	printf '%s\n' "$text" >"$one/$name.v"
	local each line refused='' stale=" $name "
	for each in "${theories[@]}"; do
		if [[ $each != "$name" ]]; then
			for old in ${needs[$each]} -; do
				[[ $stale == *" $old "* ]] && break
			done
			[[ $old == - ]] && continue
			stale+="$each "
		fi
		if ! coqc -Q "$one" WeftProof "$one/$each.v" >"$one/error" 2>&1; then
			# In which proof: a change that does not even make sense where it stands would show nothing.
			line=$(sed -n 's/^File .*, line \([0-9]*\),.*/\1/p' "$one/error" | head -1)
			refused=$(head -n "${line:-0}" "$one/$each.v" | sed -nE "s/^ *(Theorem|Lemma|Corollary|Definition|Fixpoint|Inductive|Record|Hypothesis|Variable) ([A-Za-z0-9_']+).*/\1 \2/p" | tail -1)
			refused=${refused:-nothing}
			break
		fi
	done
	rm -rf "$one"
	if [[ -z $refused ]]; then
		echo "proof-mutants: accepted: $name.v: $shown"
	elif [[ $refused != Theorem* && $refused != Lemma* && $refused != Corollary* ]]; then
		echo "proof-mutants: no proof fails, but $refused in $each.v: $name.v: $shown"
	else
		echo "$name $first $each ${refused#* }" >"$work/$number.broken"
		echo "refused in $each.v, $refused: $name.v: $shown"
	fi
}

count=0
while IFS=$'\t' read -r -a fields; do
	[[ $# -eq 0 || $1 == "${fields[0]}" ]] || continue
	count=$((count + 1))
	while [[ $(jobs -rp | wc -l) -ge $(nproc) ]]; do wait -n; done
	change "$count" "${fields[@]}" >"$work/$count.said" &
done < <(mutants)
wait
refused=0
for ((number = 1; number <= count; number++)); do
	cat "$work/$number.said"
	[[ -e $work/$number.broken ]] && refused=$((refused + 1))
done
echo "proof-mutants: Coq refuses $refused of $count"
[[ $refused == "$count" && $count -gt 0 ]] || exit 1
[[ $# -eq 0 ]] || exit 0
cp "$root/proof/theories/Theorems.v" "$work/whole"
cat "$work"/*.broken | (cd "$root" && go run ./build/scripts/proofcover "$work/whole") >"$work/covered" || {
	grep '^no change' "$work/covered"
	exit 1
}
cat "$work/covered"
echo "proof-mutants: each theorem is broken by a change to what it is about, in its own proof or in that of a lemma"
