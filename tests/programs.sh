#!/usr/bin/env bash
# Installs the programs and libraries that tests and the fault campaign use, if they are missing: Debian and its kin.
set -euo pipefail

missing=()
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
command -v valgrind >/dev/null && command -v callgrind_annotate >/dev/null || missing+=(valgrind)
command -v g++ >/dev/null || missing+=(g++)
command -v gcc >/dev/null || missing+=(gcc libc6-dev)
compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || missing+=(libfaketime)
python3 -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || missing+=(python3-dev)
command -v perl >/dev/null || missing+=(perl)
command -v chromium >/dev/null || missing+=(chromium)
command -v go >/dev/null || missing+=(golang-go)
command -v perf >/dev/null || missing+=(linux-perf)
command -v npm >/dev/null || missing+=(npm)
command -v git >/dev/null || missing+=(git)
command -v gh >/dev/null || missing+=(gh)
command -v curl >/dev/null || missing+=(curl)
command -v jq >/dev/null || missing+=(jq)
command -v strace >/dev/null || missing+=(strace)
command -v openssl >/dev/null || missing+=(openssl)
command -v setsid >/dev/null || missing+=(util-linux)
command -v mpirun >/dev/null || missing+=(openmpi-bin)
command -v srun >/dev/null && [ -x /usr/sbin/slurmctld ] && [ -x /usr/sbin/slurmd ] || missing+=(slurm-client slurmctld slurmd)
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "the tests need ${missing[*]}: install them with this system's package manager" >&2
    exit 1
fi
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -qq
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
