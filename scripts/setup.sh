# shellcheck shell=bash
# Sourced by ./run and ./test: Python, .venv, GL and X libraries. Sets `python`; prints and exits 1 where it cannot.
# Keeps to bash 3.2, so that it runs on macOS as well.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P) || exit 1

say() { printf '%s\n' "holonomy: $*" >&2; }

fail() {
    say "$*"
    exit 1
}

may_install() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }

# Install Debian packages where that is allowed, else print the exact command and stop.
need_packages() {
    local reason=$1
    shift
    if may_install; then
        say "$reason; installing: $*"
        export DEBIAN_FRONTEND=noninteractive
        apt-get update -qq >&2 || say "apt-get update failed; trying with the package lists at hand"
        # A freshly started machine often updates itself: wait for its turn rather than fail.
        apt-get install -y -qq -o DPkg::Lock::Timeout=600 --no-install-recommends "$@" >&2 || fail "apt-get could not install: $*"
    elif command -v apt-get >/dev/null 2>&1; then
        fail "$reason. Install with: sudo apt-get update && sudo apt-get install -y --no-install-recommends $*"
    else
        fail "$reason. Install what Debian calls: $*"
    fi
}

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# Print the first Python >= 3.11 on the path.
find_python() {
    local name
    for name in "${PYTHON:-python3}" python3 python3.13 python3.12 python3.11 python3.14 python; do
        if command -v "$name" >/dev/null 2>&1 && new_enough "$name"; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

make_venv() {
    local base version
    if ! base=$(find_python); then
        need_packages "Python >= 3.11 was not found" python3 python3-venv
        base=$(find_python) || fail "Python >= 3.11 is needed; the newest one found is $(python3 --version 2>&1)"
    fi
    if ! "$base" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$base" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        need_packages "$base has no venv module" "$version-venv"
    fi
    say "creating .venv with $("$base" --version 2>&1)"
    rm -rf "$root/.venv"
    "$base" -m venv "$root/.venv" || fail "could not create $root/.venv"
}

# What the environment was installed from; another fingerprint means install again.
fingerprint() { printf '%s\n' "$root" | cat - "$root/pyproject.toml" "$root/constraints.txt" | cksum; }

# ensure_environment EXTRA: `EXTRA` is "" or "dev". Does nothing when the stamp matches.
ensure_environment() {
    local extra=$1 stamp target=$root
    python=$root/.venv/bin/python
    stamp=$root/.venv/installed${extra:+-$extra}
    [ -x "$python" ] && [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint)" ] && return 0
    if ! [ -x "$python" ] || ! "$python" -m pip --version >/dev/null 2>&1 || ! new_enough "$python"; then
        make_venv
    fi
    [ -n "$extra" ] && target="${root}[$extra]"
    say "installing the dependencies into .venv (once; a few minutes on a slow line)"
    "$python" -m pip install --disable-pip-version-check --prefer-binary --quiet --progress-bar on \
        --constraint "$root/constraints.txt" --editable "$target" >&2 ||
        fail "pip could not install the dependencies; the lines above say why"
    fingerprint >"$root/.venv/installed"
    [ -z "$extra" ] || fingerprint >"$stamp"
}

ldconfig_path() {
    PATH=$PATH:/sbin:/usr/sbin command -v ldconfig
}

# Debian packages of the GL and X libraries that the dynamic linker does not know.
missing_libraries() {
    local known pair
    known=$("$(ldconfig_path)" -p 2>/dev/null) || return 0
    for pair in libGL.so.1:libgl1 libGLX_mesa.so.0:libglx-mesa0 libEGL.so.1:libegl1 libX11.so.6:libx11-6 \
        libXext.so.6:libxext6 libXi.so.6:libxi6 libXrandr.so.2:libxrandr2 libXinerama.so.1:libxinerama1 \
        libXxf86vm.so.1:libxxf86vm1 libXrender.so.1:libxrender1 libfontconfig.so.1:libfontconfig1 \
        libfreetype.so.6:libfreetype6 libxcb.so.1:libxcb1 libEGL_mesa.so.0:libegl-mesa0; do
        case $known in
        *"${pair%%:*}"*) ;;
        *)
            # A vendor's driver stands in for Mesa's.
            case ${pair%%:*}$known in
            libGLX_mesa*libGLX_nvidia* | libEGL_mesa*libEGL_nvidia*) ;;
            *) printf '%s ' "${pair##*:}" ;;
            esac
            ;;
        esac
    done
    case $known in
    *libGLX_nvidia*) ;;
    *) has_mesa_driver || printf '%s ' libgl1-mesa-dri ;;
    esac
}

has_mesa_driver() {
    local file
    for file in /usr/lib/*/dri/*_dri.so /usr/lib*/dri/*_dri.so /usr/lib/*/libgallium*.so; do
        [ -e "$file" ] && return 0
    done
    return 1
}

# ensure_system [COMMAND:PACKAGE]...: GL and X libraries, and these commands. Linux only.
ensure_system() {
    local missing pair
    [ "$(uname -s)" = Linux ] || return 0
    missing=$(missing_libraries)
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing${pair##*:} "
    done
    # shellcheck disable=SC2086 # one word a package
    [ -z "$missing" ] || need_packages "libraries or programs are missing" $missing
}
