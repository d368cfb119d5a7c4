#!/usr/bin/env bash
# Runs commands with CPython 3.13, 3.14 and 3.15, and with the free-threaded 3.14t and 3.15t, in a small Debian system: a
# folder that is their root folder. Another version, such as 3.12, is this system's own (also pyenv's).
#
#   tests/pythons.sh                                       print the versions of the Debian system
#   tests/pythons.sh VERSION [--with EXTRA]... COMMAND...  run the command in this checkout, in a virtual environment of
#                                                          that version: profkit and the extra `test`, without torch
#
# The system is made once, in the user's cache folder. Its folder's name is a checksum of the list of its packages. A
# free-threaded Python is built in it when it is needed first, from the source of Debian's or Ubuntu's package. The
# virtual environments are in `.venvs`. The exit status is 75 if a package or source is not available, for example because
# a mirror does not answer, and 3 if there is no such Python.
set -euo pipefail
shopt -s inherit_errexit

declare -A PYTHONS=([3.13]=3.13.18-1 [3.14]=3.14.10-1 [3.15]=3.15.2-1)
# URL and SHA-256 of the source; Debian has no packages of free-threaded builds.
declare -A SOURCES=(
    [3.14t]="http://archive.ubuntu.com/ubuntu/pool/main/p/python3.14/python3.14_3.14.4.orig.tar.xz
        d923c51303e38e249136fc1bdf3568d56ecb03214efdef48516176d3d7faaef8"
    [3.15t]="http://deb.debian.org/debian/pool/main/p/python3.15/python3.15_3.15.0~rc2.orig.tar.xz
        8d93af5eaaaea5adfd41bd786a7ba3f03f2ad1ab57c6a65e0b963deab91d5ad7"
)
NO_PYTHON=3
UNAVAILABLE=75  # EX_TEMPFAIL of sysexits.h

checkout=$(cd "$(dirname "$0")/.." && pwd -P)
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo -E)

pinned=(build-essential ca-certificates git procps strace)
for version in "${!PYTHONS[@]}"; do
    for suffix in '' -dev -venv -dbg; do pinned+=("python$version$suffix=${PYTHONS[$version]}"); done
done
digest=$({ printf '%s\n' "${pinned[@]}" | sort; cat "$checkout/tests/programs.sh"; } | sha256sum | cut -c 1-12)
system=${XDG_CACHE_HOME:-$HOME/.cache}/profkit/pythons/$digest

main() {
    if [ $# -eq 0 ]; then
        printf '%s\n' "${!PYTHONS[@]}" "${!SOURCES[@]}" | sort
        return
    fi
    local version=$1 extras=test
    shift
    while [ "${1:-}" = --with ]; do extras+=" $2"; shift 2; done
    if [ -z "${PYTHONS[$version]:-}${SOURCES[$version]:-}" ]; then
        local python
        python=$(python_here "$version")
        cd "$checkout"
        exec bash -euo pipefail -c "$IN_CHECKOUT" - "$version" "$python" "$extras" "$@"
    fi
    mkdir -p "$(dirname "$system")"
    {
        flock 9  # another one may be making it
        [ -e "$system/made" ] || make_system
        [ -n "${PYTHONS[$version]:-}" ] || [ -e "$(free_threaded "$version")/made" ] || build_free_threaded "$version"
    } 9>"$system.lock"
    enter "$system" "$(pip_paths)" setpriv --reuid="$(id -u)" --regid="$(id -g)" --clear-groups \
        bash -euo pipefail -c "$IN_CHECKOUT" - "$version" "python$version" "$extras" "$@"
}

# Prints the path of this system's own interpreter of a version.
python_here() {
    local python
    for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}/versions/$1".*/bin/"python$1"; do
        if "$python" -c '' 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    give_up "$NO_PYTHON" "there is no Python $1 here, only ${!PYTHONS[*]} ${!SOURCES[*]}"
}

# Prints the folder of a free-threaded build in the system. Its name has the checksum of the source.
free_threaded() {
    local url digest
    read -r url digest <<<"$(echo ${SOURCES[$1]})"
    echo "$system/opt/python$1-${digest::12}"
}

give_up() {
    local status=$1
    shift
    printf 'tests/pythons.sh: %s\n' "$@" >&2
    exit "$status"
}

unavailable() {
    "${as_root[@]}" rm -rf "$system.partial"
    give_up "$UNAVAILABLE" "$1" "no test has failed: the Pythons are missing" "try again, or pin $2"
}

make_system() {
    command -v debootstrap >/dev/null || install_debootstrap
    "${as_root[@]}" rm -rf "$system.partial"
    echo "tests/pythons.sh: making $system (minutes)" >&2
    local log=$system.log available="versions in tests/pythons.sh that Debian's mirror has" problem
    "${as_root[@]}" debootstrap --variant=minbase sid "$system.partial" >"$log" 2>&1 ||
        unavailable "debootstrap failed: $(tail -n 1 "$log"); its log is $log" "$available"
    if ! enter "$system.partial" '' bash -euo pipefail -c "$INSTALL" - "${pinned[@]}" >>"$log" 2>&1; then
        problem=$(grep -a '^E:' "$log" | tail -n 1) ||
            give_up 1 "the system cannot be made: $(tail -n 1 "$log"); the log is $log"
        unavailable "packages cannot be installed: $problem; the log is $log" "$available"
    fi
    "${as_root[@]}" touch "$system.partial/made"
    "${as_root[@]}" mv "$system.partial" "$system"
}

build_free_threaded() {
    local version=$1 log=$system.$1.log status=0 folder
    folder=$(free_threaded "$version")
    echo "tests/pythons.sh: building Python $version (minutes)" >&2
    enter "$system" '' bash -euo pipefail -c "$BUILD" - "$version" "${folder#"$system"}" ${SOURCES[$version]} \
        >"$log" 2>&1 || status=$?
    [ "$status" -ne "$UNAVAILABLE" ] || give_up "$UNAVAILABLE" "the source of Python $version is not available: $(tail -n 1 "$log")" \
        "no test has failed: this Python is missing" "try again, or name another source in tests/pythons.sh"
    [ "$status" -eq 0 ] || give_up 1 "Python $version cannot be built: $(tail -n 1 "$log"); the log is $log"
}

install_debootstrap() {
    command -v apt-get >/dev/null ||
        give_up "$UNAVAILABLE" "debootstrap is missing: install it with this system's package manager"
    if ! { "${as_root[@]}" apt-get update -qq &&
        "${as_root[@]}" apt-get install -y -qq --no-install-recommends debootstrap; } >&2; then
        give_up "$UNAVAILABLE" "debootstrap cannot be installed, so no test has run"
    fi
}

# A mirror's package lists may have expired; the packages are signed in any case.
INSTALL='
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
echo "Acquire::Check-Valid-Until \"false\";" >/etc/apt/apt.conf.d/80profkit
printf "%s\n" force-unsafe-io "path-exclude=/usr/share/"{doc,man,locale,go-*/test}"/*" >/etc/dpkg/dpkg.cfg.d/profkit
apt-get update -qq
apt-get install -y -qq --no-install-recommends "$@"
bash tests/programs.sh
apt-get clean
'

BUILD='
version=$1 folder=$2 url=$3 digest=$4
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
build=/opt/build-$version
rm -rf "$build" "$folder"
mkdir -p "$build"
packages=(libbz2-dev libffi-dev liblzma-dev libsqlite3-dev libssl-dev pkg-config uuid-dev xz-utils zlib1g-dev)
apt-get update -qq || exit 75
apt-get install -y -qq --no-install-recommends "${packages[@]}" || exit 75
python3.15 -c "import sys, urllib.request; urllib.request.urlretrieve(*sys.argv[1:])" "$url" "$build/source" || exit 75
sha256sum --check --quiet - <<<"$digest  $build/source" || exit 75
cd "$build"
tar --extract --strip-components 1 --file source
./configure --quiet --disable-gil --disable-test-modules --prefix "$folder"
make --silent --jobs "$(nproc)"
make --silent altinstall
ln -sf "$folder/bin/python$version" /usr/local/bin
rm -rf "$build"
touch "$folder/made"
'

# Runs a command as root in a system and in this checkout: `enter SYSTEM PATHS COMMAND...`. The paths, one per line, are
# read-only in the system. All mounts are in a mount namespace, which ends with the command. It uses pivot_root, because
# the kernel refuses new user namespaces after chroot, and tests make some.
enter() {
    "${as_root[@]}" unshare --mount --propagation private bash -euo pipefail -c "$ENTER" - "$1" "$checkout" "${@:2}"
}

ENTER='
system=$1 checkout=$2 paths=$3
shift 3
bind() {
    if [ -d "$1" ]; then
        mkdir -p "$system$1"
    elif [ ! -e "$system$1" ]; then
        mkdir -p "$system${1%/*}"
        : >"$system$1"
    fi
    mount --bind "$1" "$system$1"
}
mount --bind "$system" "$system"
for path in /proc /dev /sys; do mount --rbind "$path" "$system$path"; done
bind "$checkout"
for path in /etc/resolv.conf /etc/hosts $paths; do
    [ -e "$path" ] || continue
    bind "$path"
    mount -o remount,bind,ro "$system$path"
done
cd "$system"
pivot_root . .
umount --lazy .
exec env --chdir="$checkout" "$@"
'

# Prints the paths that pip needs: certificates, its configuration files, and the paths that these contain. The folder
# `simple` of an index contains links to files next to it (PEP 503), so its parent is printed.
pip_paths() {
    printf '%s\n' /etc/ssl/certs /etc/pip.conf "${XDG_CONFIG_HOME:-$HOME/.config}/pip" "$HOME/.pip"
    { python3 -m pip config list 2>/dev/null || true; } | grep -o "/[^ ,']*" | sed 's,^//*,/,; s,/simple$,,' | sort -u
}

IN_CHECKOUT='
version=$1 python=$2 extras=$3
shift 3
environment=$PWD/.venvs/$version${extras#test}
environment=${environment// /-}
digest=$({ "$python" -VV; cat setup.cfg constraints.txt tests/support/requirements.py; } | sha256sum)
if [ "$(cat "$environment/digest" 2>/dev/null)" != "$digest" ]; then
    rm -rf "$environment"
    "$python" -m venv "$environment"
    "$environment/bin/python" tests/support/requirements.py $extras >"$environment/requirements.txt"
    if ! { "$environment/bin/pip" install -q -c constraints.txt -r "$environment/requirements.txt" &&
        "$environment/bin/pip" install -q --no-deps -e .; }; then
        echo "tests/pythons.sh: packages for Python $version cannot be installed. No test has failed." >&2
        exit 75
    fi
    echo "$digest" >"$environment/digest"
fi
exec env PATH="$environment/bin:$PATH" "$@"
'

main "$@"
