package plugin_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSafeguards takes the plugin's safeguards out one by one, and sees that a
// test fails without each. Without WEFT_THOROUGH it only sees that they are there:
// building the plugin and running a test without each takes a while.
func TestSafeguards(t *testing.T) {
	if os.Getenv("WEFT_TEST_SOURCES") != "" {
		t.Skip("this is one of them")
	}
	for _, c := range []struct{ name, file, old, without, test string }{
		{"ranks rise", "walk.c", "tables_rank(t, x, lane) <= behind", "0", "TestNothingUnproven"},
		{"ranks rise, live", "walk.c", "tables_rank(t, x, lane) <= behind", "0", "TestLiars"},
		{"packets arrive", "prove.c", "if (!may_be_cut(p, r, lid))", "if (0)", "TestNothingUnproven"},
		{"no circles", "prove.c", "end == ON_THE_WAY", "0", "TestCircle"},
		{"ports exist", "prove.c", "if (x >= n->slot[row + 1])", "if (0)", "TestNothingUnproven"},
		{"ports lead to switches", "prove.c", "if (n->link[x].peer >= 0)\n\t\treturn x;", "return x;", "TestNothingUnproven"},
		{"lanes are usable", "walk.c", "lane >= w->n->link[x].lanes || ", "", "TestLanesAllowed"},
		{"lanes have ranks", "walk.c", "lane >= t->lanes || ", "", "TestNothingUnproven"},
		{"nothing is dropped on its way", "walk.c", "lane == WIRE_DROPPED && w->strict[row]", "0", "TestDropped"},
		{"adapters send", "prove.c", "t->adapters[sl] == WIRE_DROPPED", "0", "TestAdapters"},
		{"adapters send, live", "prove.c", "t->adapters[sl] == WIRE_DROPPED", "0", "TestLiars"},
		{"nobody's LIDs have no paths", "answer.c", "n->owner[l] == NOBODY && (t->out", "0 && (t->out", "TestNobodysLID"},
		{"LIDs stay where they are", "prove.c", "t->row_at[l] == n->row_of[n->home[l]]", "1", "TestOtherSwitches"},
		{"service levels exist", "prove.c", "sl[r] >= WIRE_SLS", "0", "TestNothingUnproven"},
		{"contract", "prove.c", "p->t->terms.contract | levels(w, r, lid)", "levels(w, r, lid)", "TestNothingUnproven"},
		{"contract wanted", "tables.c", "(t->terms.contract & wanted->contract) == wanted->contract", "1", "TestTerms"},
		{"both directions wanted", "tables.c", "t->terms.directed <= wanted->directed", "1", "TestTerms"},
		{"ways back", "prove.c", "|= answers(&s->walk, in, r);", "|= 0;", "TestWayBack"},
		{"ways back, drawn", "prove.c", "|= answers(&s->walk, in, r);", "|= 0;", "TestNothingUnproven"},
		{"ways back by who answers", "prove.c", " && !alike(&s->walk, row, s->one[g], in)", " && 0", "TestWhoAnswersOnWhich"},
		{"who answers", "prove.c", "uint32_t lid = l->lid;", "uint32_t lid = 0;", "TestWhoAnswers"},
		{"contracts that contradict themselves", "answer.c", "return !t->terms.directed || t->terms.contract == 0;", "return 1;", "TestWayBack"},
		{"scope wanted", "tables.c", "t->terms.scope >= wanted->scope", "1", "TestTerms"},
		{"service levels told apart", "walk.c", "w->kind[a] = b;", "w->kind[a] = 0;", "TestNothingUnproven"},
		{"ranks rise in mixtures", "walk.c", "tables_rank(t, x, lane) <= behind", "0", "TestStepAgrees"},
		{"ranks rise in mixtures, damaged", "walk.c", "tables_rank(t, x, lane) <= behind", "0", "TestDamagedSteps"},
		{"lanes exist in mixtures", "walk.c", "lane >= t->lanes || lane >= w->n->link[x].lanes || ", "", "TestStepOldPackets"},
		{"old maps", "walk.c", "come(w, row, x, sl, tables_map(w->was[k], w->old[k][row], from, to)[sl], behind) != 0", "0", "TestStepAgrees"},
		{"old service levels", "prove.c", "all |= level(w->was[k], w->old[k][row], lid);", ";", "TestStepOldPackets"},
		{"what is confirmed", "prove.c", "walk_way(w, r, s->confirmed[(size_t)r * n->lids + lid]);", ";", "TestUnconfirmed"},
		{"a step cuts nothing", "prove.c", "(p->t->terms.drops || !delivered(p, row, lid))", "1", "TestStepCuts"},
		{"no step cuts unasked", "tables.c", "t->terms.drops && !wanted->drops", "0", "TestDrops"},
		{"service levels wait for forwarding tables", "switches.c", "if (!switch_has_block(subn, s, t, row, from))\n\t\t\t\treturn guid;", ";", "TestLevelsWait"},
		{"service levels wait for SL2VL maps", "switches.c", "subn->opt.qos && !has_maps(subn, s->p_node, t)", "0", "TestLevelsWait"},
		{"what a switch lacks is written once more", "weft.c", "if (w->lacked != t->number)", "if (0)", "TestLevelsWait"},
		{"no step from nothing", "answer.c", "t->step && !n->replaces && !(n->filled && t->more > 0)", "0", "TestEveryByte"},
		{"a plan that goes on has a next step", "answer.c", "n->filled && t->more > 0", "n->filled", "TestPlanGoesOn"},
		{"a plan goes on in switches that are filled", "answer.c", "n->filled && t->more > 0", "t->more > 0", "TestPlanGoesOn"},
		{"pairs are cut where a plan goes on", "prove.c", "p->goes_on || ", "", "TestPlanGoesOn"},
		{"full switches are told from empty ones", "switches.c", "switch_info.lin_top != 0", "switch_info.lin_top == 0", "TestRestartAtEveryBoundary"},
		{"none are filled once OpenSM has written tables", "switches.c", "subn->first_time_master_sweep && ", "", "TestFilledAtFirst"},
		{"QoS", "prove.c", "!n->qos && ", "0 && ", "TestLanesAllowed"},
		{"other switches", "prove.c", "memcmp(t->guid, n->guid, n->rows * sizeof *n->guid) != 0", "0", "TestOtherSwitches"},
		{"figures of the fabric", "answer.c", "t->rows != n->rows || t->lids != n->lids || t->slots != n->slots ||", "", "TestLiars"},
		{"length", "answer.c", "size != WIRE_TABLES_SIZE +", "0 && size != WIRE_TABLES_SIZE +", "TestNothingUnproven"},
		{"sweep", "answer.c", "t->sweep != sweep", "0", "TestLiars"},
		{"numbers of maps", "answer.c", "get16(t->map_of + 2 * (size_t)i) >= t->maps", "0", "TestNothingUnproven"},
		{"magic", "talk.c", "memcmp(header, WIRE_MAGIC, 4) != 0", "0", "TestLiars"},
		{"version", "talk.c", "get16(header + 4) != WIRE_VERSION", "0", "TestLiars"},
		{"length of the answer", "talk.c", "|| size > tables_size_max(n)", "", "TestLiars"},
		{"deadline", "talk.c", "left > 0 ? poll(p, 2, (int)left) : 0", "poll(p, 2, -1)", "TestLiars"},
		{"deadline for all of it", "talk.c", "left > 0 ? poll(p, 2, (int)left) : 0", "poll(p, 2, 2000)", "TestLiars"},
		{"end of the answer", "talk.c", "if (n == 0)\n\t\t\treturn broken(", "if (0)\n\t\t\treturn broken(", "TestLiars"},
		{"owner of the daemon", "talk.c", "if (trusted(l->fd, d, why))", "if (trusted(l->fd, d, why) || 1)", "TestDaemonProcess"},
		{"no signal for a broken pipe", "talk.c", "MSG_NOSIGNAL | ", "", "TestHangsUp"},
		{"kept tables are proven", "weft.c", "t && tables_prove_from(t, &(struct before){.in_use = t}, n, &found, wrong) == 0 && found.cut <= t->found.cut", "t", "TestCables"},
		{"tables are proven", "ask.c", "if (tables_prove_from(t, &b, q->net, &t->found, wrong) != 0 || ", "if (", "TestLiars"},
		{"the tree is proven", "tree.c", "walk_on(&w) == 0", "1", "TestEveryByte"},
		{"the tree joins all", "tree.c", "ok = count == t->rows;", "ok = 1;", "TestEveryByte"},
		{"the tree has one root", "tree.c", "roots++ > 0", "0", "TestEveryByte"},
		{"cables of the tree are there", "tree.c", "x >= n->slot[r + 1] || n->link[x].peer < 0)\n\t\t\treturn wrong", "0)\n\t\t\treturn wrong", "TestEveryByte"},
		{"nothing is dropped in the tree", "tree.c", "w.strict[r] = 1;", ";", "TestSmallCases"},
		{"groups keep to the levels of the proof", "group.c", "t->groups >> sl & 1", "1", "TestGroupsOnOtherLevels"},
		{"no tree over cables that are gone", "group.c", "osm_physp_get_node_ptr(far) == up->p_node && osm_physp_get_port_num(far) == t->back[row]", "1", "TestTreeOverCablesThatAreGone"},
		{"tables are kept", "weft.c", "return stay(w, t, q->net);", "return 0;", "TestLiars"},
		{"failure is told", "weft.c", "if (q && route(w, q))", "if ((q && route(w, q)) || 1)", "TestDaemonProcess"},
		{"layout", "weft.c", "!same_layout(osm)", "0", "TestMismatch"},
		{"OpenSM waits for so long only", "weft.c", "until(w, q, w->wait_ms)", "INT64_MAX", "TestSlow"},
		{"late tables are used", "weft.c", "w->osm->subn.force_reroute = TRUE;\n\tosm_opensm_sweep(w->osm);", "", "TestSlow"},
		{"late tables are not asked for again", "ask.c", "(!a->ended || q->tables)", "!a->ended", "TestSlow"},
		{"late tables are for the same fabric", "ask.c", "memcmp(q->request + rest, request + rest, size - rest) == 0", "1", "TestLate"},
		{"the next step waits for a daemon", "ask.c", "return step || stands(q)", "return stands(q)", "TestDaemonKilledBetweenSteps"},
		{"a question for orders stays open", "ask.c", "return step || stands(q)", "return step", "TestDrainLive"},
		{"orders are asked for", "weft.c", "t->so_far || t->orders || ", "t->so_far || ", "TestDrainLive"},
		{"a step waits for earlier packets", "ask.c", "(t->number != tables_number(q->in_use) || q->again) && now_ms() < atomic_load(&a->gone)", "0", "TestStepWaits"},
		{"a repair need not wait", "ask.c", "q->earlier = tables_hold(a->earlier);", ";", "TestSecondFault"},
		{"a step is proven while it is written", "prove.c", "(p->was && follow(p, &p->step, out, lid) != 0)", "0", "TestStepOfLiar"},
		{"what is late is told", "ask.c", "if (!a->awaited && (q->tables || q->again))", "if (0)", "TestLate"},
		{"another fabric is asked about at once", "talk.c", "n > 0 && p[1].revents != 0", "0", "TestLate"},
		{"better tables are asked for", "weft.c", "t->so_far || t->orders || t->found.cut > 0", "0", "TestImproves"},
		{"who is cut is asked for", "weft.c", "t->so_far || t->orders || t->found.cut > 0", "t->so_far || t->orders", "TestRefusedInMidPlan"},
		{"a sweep does not wait for better tables", "ask.c", " && (a->ended || !(q->again || q->persists))", "", "TestBetter"},
		{"a daemon that is back is asked", "weft.c", "asker_persist(&w->asker);", "", "TestDaemonProcess"},
		{"groups follow tables", "weft.c", "regroup(w);\n\tw->regroup = 0;", "w->regroup = 0;", "TestTreeWhileHung"},
		{"the tree is in parts", "tree.c", "part[r] = up != NO_ROW && ", "part[r] = ", "TestTreeWhileHung"},
		{"SA is answered", "weft.c", "!kept && !silent && w->osm->subn.first_time_master_sweep", "!kept && !silent", "TestHungDaemon"},
		{"no path record to whom is elsewhere", "left.c", "stays(t, n, lid) && t->out[at + lid] != WIRE_NO_PORT && ", "", "TestHungDaemon"},
		{"no path over a cable that leads elsewhere", "left.c", " && !elsewhere(t, n, old, row, t->out[at + lid])", "", "TestHungDaemon"},
		{"one that refuses is asked again", "ask.c", "due = !q->tables && !a->awaited;", "due = 0;", "TestAskedAgain"},
		{"pauses grow", "ask.c", "PAUSE << (times < 1 ? 0 : times > 7 ? 6 : times - 1)", "PAUSE", "TestAskedAgain"},
		{"what is left of tables stays", "weft.c", "partly && in_use(w) ? tables_left(in_use(w), &b, q->net, wrong) : NULL", "NULL", "TestRefusedWithCut"},
		{"what is left is proven beside what it is left of", "left.c", "left->meanwhile = tables_prove_from(left, b, n,", "left->meanwhile = tables_prove_from(left, &themselves, n,", "TestLeftBesideTheWhole"},
		{"no standby manager takes over", "weft.c", "until(w, q, held(w))", "INT64_MAX", "TestHeld"},
		{"a hung daemon is waited for once", "weft.c", "!ended && !kept && !silent", "!ended && !kept", "TestHung"},
		{"the log is written", "weft.c", "\t\tfflush(w->osm->log.out_port);", "\t\t;", "TestLogWritten"},
		{"OpenSM can end", "ask.c", "now_ms() < until && !*a->over", "now_ms() < until", "TestEnds"},
		{"memory is freed", "ask.c", "net_free(q->net);\n\tfree(q->request);", "free(q->request);", "TestMemory"},
		{"tables are freed", "shelf.c", "tables_free(s->old[i]);\n\t\ts->old", "s->old", "TestMemory"},
		{"readers are waited for", "shelf.c", "atomic_load(&s->readers) != 0", "0", "TestSwap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("../../../plugin", c.file))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), c.old); n != 1 {
				t.Fatalf("%q is %d times in %s", c.old, n, c.file)
			}
			if os.Getenv("WEFT_THOROUGH") == "" {
				return
			}
			dir := t.TempDir()
			if out, err := exec.Command("cp", "-r", "../../../plugin", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			path := filepath.Join(dir, "plugin", c.file)
			if err := os.WriteFile(path, []byte(strings.Replace(string(text), c.old, c.without, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], "-test.run=^"+c.test+"$", "-test.timeout=5m")
			// What is not used any more is no error here.
			cmd.Env = append(os.Environ(), "WEFT_TEST_SOURCES="+filepath.Dir(path), "WEFT_TEST_CFLAGS=-Wno-error", "WEFT_CASES=20000")
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Errorf("%s passes without", c.test)
			}
			for line := range strings.Lines(string(out)) {
				if strings.Contains(line, "make") && strings.Contains(line, "rror") {
					t.Fatalf("it does not build:\n%s", out)
				}
			}
			t.Logf("%s", out[:min(len(out), 400)])
		})
	}
}
