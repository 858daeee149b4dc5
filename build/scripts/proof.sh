#!/usr/bin/env bash
# Checks the proofs from nothing: compiles every theory of proof/theories, has Coq's second checker
# (coqchk) go over the result, demands that no theorem rests on an axiom or on a proof that was
# left out, and that the extracted programs that are kept here (proof/checker/judge.ml, ethernetjudge.ml) are what comes of
# them. With --if-possible it says so and succeeds where there is no Coq.
set -euo pipefail
cd "$(dirname "$0")/../.."

if ! command -v coqc >/dev/null || ! command -v coqchk >/dev/null; then
	echo "proof: no Coq; on Debian: apt-get install coq ocaml-nox"
	[[ ${1-} == --if-possible ]] && exit 0
	exit 1
fi

theories=(Network Semantics Freedom Contracts Checker Soundness Verdict Waiting Arbitration Mixtures Deadlocks Witness Escape Multicast Ethernet EthernetChecker Ring Theorems Extract)
for file in proof/theories/*.v; do
	name=$(basename "$file" .v)
	[[ " ${theories[*]} " == *" $name "* ]] || { echo "proof: $file is not among the theories that build/scripts/proof.sh checks"; exit 1; }
done
for name in $(grep -oE '`[a-z_]+`' docs/proof.md | tr -d '`' | sort -u); do
	grep -qE "^(Theorem|Lemma|Corollary) $name " proof/theories/*.v || continue
	grep -qE "^Print Assumptions ([A-Za-z]+\.)?$name\.$" proof/theories/Theorems.v || {
		echo "proof: docs/proof.md names $name, and proof/theories/Theorems.v does not"
		exit 1
	}
done
# A theorem that is gone altogether, or called otherwise: what docs/proof.md names of the theories, one by one, is a theorem, or defined, or a field of
# weft-proof's answers.
for name in $(sed -n '/^## The theories/,/^## What is not proven/p' docs/proof.md | grep -oE '`[a-z]+(_[a-z]+)+`' | tr -d '`' | sort -u); do
	grep -qE "^Print Assumptions ([A-Za-z]+\.)?$name\.$|^Definition $name\b" proof/theories/*.v || grep -q "\\\\\"$name\\\\\"" proof/checker/main.ml || {
		echo "proof: docs/proof.md names $name, and no theory has it"
		exit 1
	}
done
# What would make a proof say less than it seems to. Comments are not looked through: nothing needs the words.
if grep -nwE 'Admitted|admit|give_up|Axiom|Axioms|Parameter|Parameters|Conjecture|bypass_check|Unset Guard Checking|Unset Positivity Checking|Unset Universe Checking|type_in_type' proof/theories/*.v; then
	echo "proof: something is taken for granted there"
	exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/theories" "$work/checker"
cp proof/theories/*.v "$work/theories"
cd "$work"
for name in "${theories[@]}"; do
	coqc -Q theories WeftProof "theories/$name.v" >"$name.out" 2>&1 || { cat "$name.out"; exit 1; }
done
asked=$(grep -c '^Print Assumptions' theories/Theorems.v)
closed=$(grep -c '^Closed under the global context$' Theorems.out || true)
if [[ $asked -eq 0 || $asked -ne $closed ]]; then
	cat Theorems.out
	echo "proof: $closed of $asked theorems rest on no axiom"
	exit 1
fi
coqchk -silent -o -Q theories WeftProof WeftProof.Theorems >chk.out 2>&1 || { cat chk.out; exit 1; }
if ! grep -A1 '^\* Axioms:' chk.out | grep -q '<none>'; then
	cat chk.out
	echo "proof: coqchk finds an axiom"
	exit 1
fi
cd - >/dev/null
for file in judge.ml judge.mli ethernetjudge.ml ethernetjudge.mli; do
	cmp "$work/checker/$file" "proof/checker/$file" || {
		echo "proof: proof/checker/$file is not what is extracted now: make extract"
		exit 1
	}
done
echo "proof: $asked theorems without an axiom; proof/checker/judge.ml and ethernetjudge.ml are extracted from them"
