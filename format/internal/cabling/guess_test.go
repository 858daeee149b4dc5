package cabling

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"7": "7", "P07": "7", "port 7": "7", "Port_7": "7", "IB Port 7": "7", "IB7": "7", "IB1/7": "7", " 254 ": "254", "1/3/2": "1/3/2", "Port 1/3/2": "1/3/2", "sw3p2": "3/2", "OSFP4-A": "OSFP4-A", "999": "999",
	} {
		if p, ok := ParsePort(text); !ok || p.String() != want {
			t.Errorf("%q is %v", text, p)
		}
	}
	for _, text := range []string{"", "abra", "0", "P0", "Port"} {
		if p, ok := ParsePort(text); ok {
			t.Errorf("%q is %v", text, p)
		}
	}
	for text, want := range map[string]string{
		"HDR": "4xHDR", "hdr100": "2xHDR", "NDR200": "2xNDR", "2xNDR": "2xNDR", "200": "4xHDR", "200G": "4xHDR", "400 Gb/s": "4xNDR", "200000": "4xHDR", "100000": "4xEDR", "56gbps": "4xFDR", "FDR10": "4xFDR10", "10": "4xSDR",
	} {
		if r, ok := ParseRate(text); !ok || r.String() != want {
			t.Errorf("%q is %s", text, r)
		}
	}
	for _, text := range []string{"", "fast", "1G", "4x", "300", "0", "3xFOO"} {
		if r, ok := ParseRate(text); ok {
			t.Errorf("%q is %s", text, r)
		}
	}
	for text, want := range map[string]string{"25G": "EDR", "2.5G": "SDR", "14": "FDR", "100G": "NDR", "FDR_10": "FDR10"} {
		if s, ok := LaneSpeed(text); !ok || string(s) != want {
			t.Errorf("%q is %s", text, s)
		}
	}
	if natural("leaf-2") >= natural("leaf-10") || natural("a01") == "" {
		t.Error("leaf-10 before leaf-2")
	}
}
