package conf

import (
	"slices"
	"strings"
)

// Family is a line of subnet managers whose files are alike.
type Family string

// The families.
const (
	Upstream Family = "OpenSM 3.3"            // linux-rdma's, which distributions have
	NVIDIA   Family = "NVIDIA's OpenSM (5.x)" // of MLNX_OFED, DOCA and UFM: more engines, and a few hundred more options
)

// engines is the engines of the families, as they are spelled. "null" is an old name of minhop.
// NVIDIA's are those of the manuals of MLNX_OFED 23.10, DOCA 2.8 and UFM 6.17.
var (
	engines       = []string{"minhop", "null", "updn", "dnup", "file", "ftree", "lash", "dor", "torus-2QoS", "nue", "dfsssp", "sssp"}
	enginesNVIDIA = []string{
		"minhop", "updn", "dnup", "file", "ftree", "dor", "torus-2QoS", "chain", "pqft", "dfp", "dfp2", "kdor-hc", "kdor-ghc",
		"ar_updn", "ar_ftree", "ar_torus", "ar_dor", "auto",
	}
)

// optionsNVIDIA is beginnings of options that NVIDIA's OpenSM reads and OpenSM 3.3 does not: a few hundred,
// more with each release. A name that ends in _ begins several.
var optionsNVIDIA = strings.Fields(`
activity_report_ additional_gi_ additional_mepi_ adv_routing_engine aguid_ an2an_ ar_ calculate_missing_routes
cc_policy_file cache_ar_group_id cache_files_dir congestion_control_policy_file conf_template
consolidate_ipv4_mask device_configuration_file dfp_ dor_hyper_cube_mode drop_subscr_
drop_unreachable_ enable_ enhanced_qos_ fabric_mode_ fast_recovery_
flid_compression force_heavy_sweep_window get_mft_tables global_flid_ gmp_ hbf_ held_back_sw_
hm_ improved_lmc_path_distribution issu_ key_mgr_ lids_per_rtr light_sweep_spst load_inform_info_from_sadb
local_flid_ m_key_per_port master_sm_ max_alt_dr_path_retries
max_cas_on_spine max_msg_fifo_len max_neighbor_mtu max_op_vls_ max_operational_vls max_rate_enum max_seq_redisc
max_topologies_per_sw max_wire_smps_per_device mc_primary_root_guid mc_roots_file mc_secondary_root_guid mepi_
mlnx_ n2n_ nvl_ nvlink_ offsweep_ osm_perflog_ osm_stats_ override_create_mcg_sl
pfrn_ pgrp_ planarized_ port_ame_ port_ext_speed port_mepi_ port_mtu_
port_speed_change_action port_vl_ prism_ rch_ rediscovery_ reports reply_lid_ rereg_on_guid_migr
respond_ router_policy_ routing_flags routing_threads_num rtr_ sa_check_ sa_enhanced_ sa_etm_
sa_pr_full_world_queries_allowed sa_rate_threshold service_name2key_map_file sharp_ shield_mode sm_assign_
smp_threads stand_alone subnet_lst_file suppress_mc_ sweep_every_hup_signal switch_name tenants_policy_ topo_config_
unhealthy_ use_scatter_for_switch_lid validate_ verbose_bypass_ virt_ vs_
`)

// Of reports whether subnet managers of a family read an option.
func (f Family) Of(key string) bool {
	return Known(key) || f == NVIDIA && slices.ContainsFunc(optionsNVIDIA, func(begin string) bool {
		return key == begin || strings.HasSuffix(begin, "_") && strings.HasPrefix(key, begin)
	})
}

// Engines is the engines that a family has.
func (f Family) Engines() []string {
	if f == NVIDIA {
		return enginesNVIDIA
	}
	return engines
}

// Family tells whose file this is, by its engines and options: NVIDIA's if it has an engine that only theirs
// has, or two options.
func (c *Conf) Family() Family {
	named, _ := c.Engines()
	for _, e := range named {
		if slices.Contains(enginesNVIDIA, e) && !slices.Contains(engines, e) {
			return NVIDIA
		}
	}
	theirs := map[string]bool{}
	for _, o := range c.Options {
		if NVIDIA.Of(o.Key) && !Known(o.Key) {
			theirs[o.Key] = true
		}
	}
	if len(theirs) >= 2 {
		return NVIDIA
	}
	return Upstream
}
