package conf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weft-fabric/weft/internal/spell"
)

// options is all that OpenSM 3.3.23 reads, sorted: what opensm -c writes, and
// dimn_ports_file, an old name.
var options = strings.Fields(`
accum_log_file allow_both_pkeys avoid_throttled_links babbling_port_policy cc_ca_cong_setting_ccti_increase
cc_ca_cong_setting_ccti_min cc_ca_cong_setting_ccti_timer cc_ca_cong_setting_control_map
cc_ca_cong_setting_port_control cc_ca_cong_setting_trigger_threshold cc_cct cc_key cc_max_outstanding_mads
cc_sw_cong_setting_control_map cc_sw_cong_setting_credit_mask cc_sw_cong_setting_credit_starvation_return_delay
cc_sw_cong_setting_credit_starvation_threshold cc_sw_cong_setting_marking_rate cc_sw_cong_setting_packet_size
cc_sw_cong_setting_threshold cc_sw_cong_setting_victim_mask cn_guid_file congestion_control connect_roots
console console_port consolidate_ipv6_snm_req daemon dimn_ports_file disable_multicast do_mesh_analysis
drop_event_subscriptions dump_files_dir enable_quirks event_db_dump_file event_plugin_name event_plugin_options
exit_on_fatal fdr10 force_heavy_sweep force_link_speed force_link_speed_ext force_link_width force_log_flush
fsync_high_avail_files guid guid_routing_order_file guid_routing_order_no_scatter head_of_queue_lifetime
honor_guid2lid_file hop_weights_file ids_guid_file ignore_other_sm io_guid_file
ipoib_mcgroup_creation_validation keep_pkey_indexes lash_start_vl leaf_head_of_queue_lifetime
leaf_vl_stall_count lfts_file lid_matrix_dump_file lmc lmc_esp0 local_phy_errors_threshold log_file log_flags
log_max_size log_prefix long_transaction_timeout m_key m_key_lease_period m_key_lookup m_key_protection_level
max_msg_fifo_timeout max_op_vls max_reverse_hops max_smps_timeout max_wire_smps max_wire_smps2
mcgroup_join_validation no_clients_rereg no_partition_enforcement node_name_map_name nue_include_switches
nue_max_num_vls overrun_errors_threshold packet_life_time part_enforce partition_config_file
per_module_logging_file perfmgr perfmgr_ignore_cas perfmgr_log_errors perfmgr_max_outstanding_queries
perfmgr_query_cpi perfmgr_redir perfmgr_rm_nodes perfmgr_sweep_time_s perfmgr_xmit_wait_log
perfmgr_xmit_wait_threshold polling_retry_number port_prof_ignore_file port_profile_switch_nodes
port_search_ordering_file port_shifting prefix_routes_file qos qos_ca_high_limit qos_ca_max_vls qos_ca_sl2vl
qos_ca_vlarb_high qos_ca_vlarb_low qos_high_limit qos_max_vls qos_policy_file qos_rtr_high_limit qos_rtr_max_vls
qos_rtr_sl2vl qos_rtr_vlarb_high qos_rtr_vlarb_low qos_sl2vl qos_sw0_high_limit qos_sw0_max_vls qos_sw0_sl2vl
qos_sw0_vlarb_high qos_sw0_vlarb_low qos_swe_high_limit qos_swe_max_vls qos_swe_sl2vl qos_swe_vlarb_high
qos_swe_vlarb_low qos_vlarb_high qos_vlarb_low quasi_ftree_indexing reassign_lids root_guid_file routing_engine
sa_db_dump sa_db_file sa_key scatter_ports single_thread sm_assigned_guid sm_inactive sm_key sm_priority sm_sl
sminfo_polling_timeout subnet_prefix subnet_timeout suppress_sl2vl_mad_status_errors sweep_interval
sweep_on_trap torus_config transaction_retries transaction_timeout use_mfttop use_optimized_slvl
use_original_extended_sa_rates_only use_ucast_cache vl_stall_count
`)

// Known reports whether OpenSM knows an option. It skips the others, and says so on
// its standard output only.
func Known(key string) bool {
	_, ok := slices.BinarySearch(options, key)
	return ok
}

// Nearest is the option that is most similar to a word; empty if none is.
func Nearest(key string) string { return spell.Nearest(strings.ToLower(key), options) }

// fewKnown is the smallest share of lines with known options, as 1 in fewKnown, in a
// file that is taken for an opensm.conf.
const fewKnown = 10

// plausible refuses a file with hardly any line that OpenSM, of whichever family, knows. An empty file is
// accepted.
func (c *Conf) plausible() error {
	known, first := 0, (*Option)(nil)
	for i := range c.Options {
		switch {
		case NVIDIA.Of(c.Options[i].Key):
			known++
		case first == nil:
			first = &c.Options[i]
		}
	}
	if first == nil || known*fewKnown >= len(c.Options) {
		return nil
	}
	return fmt.Errorf("%s:%d: %.40q is no option of OpenSM, and of %d lines %d are: this is no opensm.conf", c.File, first.Line, first.Key, len(c.Options), known)
}
