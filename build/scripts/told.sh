#!/usr/bin/env bash
# Tells the running system what came or went: make install and make uninstall, where
# they are about this system and not about a folder (DESTDIR).
set -euo pipefail
if [[ -n $DESTDIR || $(id -u) -ne 0 ]]; then
	exit 0
fi
PATH="$PATH:/usr/sbin:/sbin"
ldconfig # OpenSM asks the linker for its plugin by name
if [[ -d /run/systemd/system ]]; then
	systemctl daemon-reload
fi
