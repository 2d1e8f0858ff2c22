#!/usr/bin/env bash
# Makes the package, and installs, uses, upgrades and removes it as on a new machine: without JDK, Maven and network. The
# machine is this one in namespaces, with layers over its folders, so nothing here is changed. Needs root on Linux.
#
#   bench/package.sh                    with caches for a fast start; prints sizes and start times
#   bench/package.sh --short            without caches, in about a minute
#   bench/package.sh [--short] FILE     tests this package
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly EXPOSURE_MAX=3.0 PORT=8443 READY_SECONDS_MAX=600

fail() {
    printf 'package: %s\n' "$1" >&2
    [[ ! -f ${2:-} ]] || cat "$2" >&2
    exit 1
}

row() { printf '%-44s %s\n' "$1" "$2"; }

expect() { [[ $2 == *"$3"* ]] || fail "$1: expected \"$3\", found \"$2\""; }

seconds_of() {
    local began=$EPOCHREALTIME
    "$@" > /dev/null 2>&1 || true
    awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f s", b - a }'
}

# --- on this machine ---

check_units() {
    local unit exposure
    for unit in dozo dozo-worker; do
        exposure=$(systemd-analyze security --offline=true --no-pager "$PWD/service/src/main/package/$unit.service" |
            sed -n 's/.*exposure level for .*: \([0-9.]*\) .*/\1/p')
        row "exposure of $unit.service" "${exposure:-unknown}"
        [[ -n $exposure ]] && awk -v e="$exposure" -v max="$EXPOSURE_MAX" 'BEGIN { exit !(e <= max) }' ||
            fail "$unit.service: expected an exposure of at most $EXPOSURE_MAX"
    done
    # What the units may do is written twice, because systemd has no place for both.
    [[ $(permissions dozo) == "$(permissions dozo-worker)" ]] || fail 'the two units may do different things'
}

permissions() { sed -n '/^CapabilityBoundingSet=/,/^SystemCallErrorNumber=/p' "service/src/main/package/$1.service"; }

# --- on the new machine ---

become_new_machine() {
    local each layers
    layers=$work/layers
    mkdir "$layers"
    mount -t tmpfs tmpfs "$layers"
    for each in usr etc opt var root; do
        mkdir -p "$layers/$each"/{new,work}
        mount -t overlay overlay -o "lowerdir=/$each,upperdir=$layers/$each/new,workdir=$layers/$each/work" "/$each"
    done
    rm -rf /usr/lib/jvm /usr/share/maven /root/.m2
    rm -rf /opt/*
    unset JAVA_HOME "${!DOZO_@}"
    for each in java javac mvn; do
        [[ -z $(type -P "$each") ]] || rm -f "$(type -P "$each")"
        [[ -z $(type -P "$each") ]] || fail "$each is still here"
    done
    mkdir -p /run/systemd
    mount -t tmpfs tmpfs /run/systemd
    mkdir /run/systemd/journal
    ip link set lo up
}

as_dozo() { runuser -u dozo -- "$@"; }

set_up_tls() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=dozo \
        -addext subjectAltName=IP:127.0.0.1 -keyout /etc/dozo/tls/key.pem -out /etc/dozo/tls/certificate.pem 2> /dev/null
    chgrp dozo /etc/dozo/tls/*.pem
    chmod 640 /etc/dozo/tls/*.pem
    cat >> /etc/dozo/dozo.env << SETTINGS
DOZO_HTTP_PORT=$PORT
DOZO_HTTP_TLS_CERTIFICATE_FILE=/etc/dozo/tls/certificate.pem
DOZO_HTTP_TLS_KEY_FILE="/etc/dozo/tls/key.pem"
DOZO_SCHEDULE_CRON=0 0 3 * * *
DOZO_SCHEDULE_ZONE=Asia/Tokyo
DOZO_LDAP_URL=ldap://127.0.0.1:1
DOZO_LDAP_BASE=dc=example
DOZO_URL=https://127.0.0.1:$PORT
DOZO_CA_FILE=/etc/dozo/tls/certificate.pem
SETTINGS
}

# Starts the service as its unit does, and waits until it reports to "systemd" that it is ready.
start() {
    local began=$EPOCHREALTIME listener socket=/run/dozo-test/notify
    rm -rf /run/dozo-test
    mkdir -m 777 /run/dozo-test
    python3 - "$socket" "$READY_SECONDS_MAX" > /run/dozo-test/said 2> /dev/null << 'LISTENER' &
import os, socket, sys
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
listener.settimeout(float(sys.argv[2]))
open(sys.argv[1] + '.bound', 'w').close()
print(listener.recv(1000).decode())
LISTENER
    listener=$!
    until [[ -e $socket.bound ]]; do sleep 0.05; done
    : > "$work/service.log"
    rm -f /run/systemd/journal/socket
    python3 - >> "$work/service.log" << 'JOURNAL' &
import os, socket
journal = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
journal.bind('/run/systemd/journal/socket')
os.chmod('/run/systemd/journal/socket', 0o777)
while True:
    print(journal.recv(65536).decode(), flush=True)
JOURNAL
    journal=$!
    until [[ -e /run/systemd/journal/socket ]]; do sleep 0.05; done
    (cd /var/lib/dozo && exec setpriv --reuid dozo --regid dozo --clear-groups --no-new-privs --inh-caps=-all \
        env HOME=/var/lib/dozo NOTIFY_SOCKET=$socket \
        JOURNAL_STREAM="$(stat -c %d:%i "$work/service.log")" /opt/dozo/current/dozo serve) >> "$work/service.log" 2>&1 &
    service=$!
    while kill -0 "$listener" 2> /dev/null && kill -0 "$service" 2> /dev/null; do sleep 0.05; done
    [[ $(< "$work/service.log") =~ 'MESSAGE=Dozo listens at '[^$'\n']*$'\n''PRIORITY=6' ]] || fail 'the journal has no fields' "$work/service.log"
    [[ $(cat /run/dozo-test/said) == READY=1 ]] || fail 'the service did not become ready' "$work/service.log"
    ready_seconds=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
}

stop() {
    local code=0
    kill -TERM "$service"
    wait "$service" || code=$?
    kill "$journal"
    [[ $code == 143 ]] || fail "a stopped service: expected exit code 143, found $code" "$work/service.log"
}

ask() { curl -sS --cacert /etc/dozo/tls/certificate.pem "$@"; }

# Unpacks the package and gives it another version.
unpack_as() {
    mkdir "$work/$1"
    tar -C "$work/$1" -xzf "$package"
    cd "$work/$1"/dozo-*
    [[ $1 == first ]] || printf '%s\n' "$1" > version
}

test_as_new_user() {
    local settings first health
    become_new_machine
    unpack_as first
    first=$(< version)
    # Root runs the program too, so no other user may ever own a part of it.
    (until [[ -e $work/installed ]]; do find /opt/dozo ! -user root 2> /dev/null || true; sleep 0.5; done) > "$work/others" &
    ./install "${options[@]}" > "$work/said"
    touch "$work/installed"
    wait $! || true
    [[ ! -s $work/others ]] || fail 'another user owned a part of the program' "$work/others"
    [[ -n ${options[*]} || -f /opt/dozo/releases/$first/app/service.aot ]] || fail 'no caches' "$work/said"
    expect install "$(< "$work/said")" "Installed Dozo $first"
    [[ -f /opt/dozo/current/docs/index.html && -f /opt/dozo/current/docs/ja/index.html ]] || fail 'the documentation is missing'
    row 'installed' "$(du -sh --apparent-size "/opt/dozo/releases/$first" | cut -f1)B"
    expect 'mode of the settings' "$(stat -c '%a %U %G' /etc/dozo/dozo.env)" '640 root dozo'
    expect 'mode of the data' "$(stat -c '%a %U %G' /var/lib/dozo)" '700 dozo dozo'
    set_up_tls
    settings=$(cksum /etc/dozo/dozo.env)
    ./install "${options[@]}" > /dev/null
    [[ $(cksum /etc/dozo/dozo.env) == "$settings" ]] || fail 'a second installation changed the settings'
    systemd-analyze verify --man=no dozo.service dozo-worker.service > "$work/said" 2>&1 || fail 'systemd-analyze verify' "$work/said"
    ! grep -F dozo "$work/said" || fail 'systemd-analyze verify found errors'

    as_dozo dozo settings > "$work/said" 2>&1 || fail 'dozo settings' "$work/said"
    expect 'dozo settings' "$(< "$work/said")" '0 0 3 * * *'
    start
    row 'first start, until it is ready' "$ready_seconds s"
    expect 'a page in Japanese' "$(ask -H 'Accept-Language: ja' "https://127.0.0.1:$PORT/login")" 'ログイン'
    expect 'a login at a directory' "$(ask -u nobody:x "https://127.0.0.1:$PORT/api/v1/me")" 'directory'
    as_dozo dozo project add P1 > /dev/null || fail 'dozo project add'
    row 'dozo status' "$(seconds_of as_dozo dozo status)"
    expect 'dozo status' "$(as_dozo dozo status)" 'No run yet'
    man -l /usr/share/man/man7/dozo.7 > /dev/null 2>&1 || [[ -z $(type -P man) ]] || fail 'the manual page'

    # A night with a real DR site, as the service's user.
    # Not in the work folder: this user may have no way through the folders above it.
    mkdir -p /var/lib/trial-source/visit
    head -c 300000 /dev/urandom > /var/lib/trial-source/visit/脳.dat
    install -d -o dozo -g dozo /var/lib/trial
    (cd /var/lib/trial && DOZO_HTTP_PORT=0 DOZO_HTTP_TLS_CERTIFICATE_FILE='' DOZO_HTTP_TLS_KEY_FILE='' DOZO_WORK=work DOZO_LDAP_URL='' \
        as_dozo dozo demo --once --data /var/lib/trial-source) > "$work/said" 2>&1 || fail 'dozo demo' "$work/said"
    expect 'dozo demo' "$(< "$work/said")" 'safe'

    unpack_as second
    ./install "${options[@]}" > /dev/null
    health=$(ask -o /dev/null -w '%{http_code}' "https://127.0.0.1:$PORT/actuator/health")
    expect 'the earlier release while the new one is installed' "$health" 200
    expect 'the earlier release' "$(ls /opt/dozo/releases)" "$first"
    stop
    start
    row 'start after an upgrade, until it is ready' "$ready_seconds s"
    expect 'data after an upgrade' "$(as_dozo dozo project list)" P1
    [[ $(cksum /etc/dozo/dozo.env) == "$settings" ]] || fail 'an upgrade changed the settings'
    unpack_as third
    ./install "${options[@]}" > /dev/null
    [[ $(ls -A /opt/dozo/releases | tr '\n' ' ') == 'second third ' ]] || fail "releases: $(ls -A /opt/dozo/releases)"
    printf '%s\n' 0.9.0-linux-amd64 > version
    ! ./install > "$work/said" 2>&1 || fail 'an earlier release was installed over a later one'
    expect 'an earlier release over a later one' "$(< "$work/said")" 'expected third, which is installed, or a later release'
    expect 'the installed release after a refusal' "$(readlink /opt/dozo/current)" releases/third
    stop
    ./install --remove > /dev/null
    [[ -f /etc/dozo/dozo.env && -d /var/lib/dozo/postgres && ! -e /opt/dozo && ! -e /usr/bin/dozo ]] ||
        fail 'a removal: expected settings and data, and no program'
}

# Every file of the program is in the lists of software, and every component of these in NOTICE.
check_lists() {
    local rows=${package%.tar.gz}.software.tsv top
    top=$(basename "$package" .tar.gz)
    diff <(tar -tzf "$package" | sed -n "s|^$top/\(app/.*\.jar\)\$|\1|p" | LC_ALL=C sort) \
        <(cut -f6 "$rows" | grep ^app/ | LC_ALL=C sort -u) > "$work/package.log" || fail 'software.tsv does not have the files of the package' "$work/package.log"
    tar -xzOf "$package" "$top/share/NOTICE" > "$work/notice"
    tail -n +2 "$rows" | cut -f1-3 | sed 's/\t/ /; s/\t/: /' > "$work/components"
    ! grep -vxFf <(sed 's/\( (also offered: .*)\)\?\(\. Changed\)\?$//' "$work/notice") "$work/components" || fail 'NOTICE lacks these components'
    [[ $(grep -c '"bom-ref" : "pkg:\|"cpe"' "${rows%.tsv}.cdx.json") == $(($(wc -l < "$work/components") + 1)) ]] ||
        fail 'CycloneDX lists other components than software.tsv'
    row 'components, of these older than two years' "$(awk -F '\t' 'NR > 1 { n++; old += $5 > 730 && $5 != "unknown"; unknown += $5 == "unknown" }
        END { printf "%d, %d, %d of unknown age", n, old, unknown }' "$rows")"
}

# Maven refuses a download that does not have its checksum. The registry is a folder, and the download a parent POM.
check_maven() {
    local maven=$work/maven parent=$work/maven/registry/test/parent/1/parent-1.pom
    local pom='<project><modelVersion>4.0.0</modelVersion><packaging>pom</packaging>'
    mkdir -p "${parent%/*}" "$maven/build"
    cp -R .mvn "$maven/build"
    printf '%s<groupId>test</groupId><artifactId>parent</artifactId><version>1</version></project>' "$pom" > "$parent"
    printf '%s<parent><groupId>test</groupId><artifactId>parent</artifactId><version>1</version><relativePath/></parent>%s' "$pom" \
        "<artifactId>child</artifactId><repositories><repository><id>test</id><url>file://$maven/registry</url></repository></repositories></project>" \
        > "$maven/build/pom.xml"
    sha1sum < "$parent" | cut -d' ' -f1 > "$parent.sha1"
    (cd "$maven/build" && mvn -B -q "-Dmaven.repo.local=$maven/first" validate) > "$work/package.log" 2>&1 || fail 'Maven refused a good checksum' "$work/package.log"
    printf '%040d' 0 > "$parent.sha1"
    ! (cd "$maven/build" && mvn -B -q "-Dmaven.repo.local=$maven/second" validate) > "$work/package.log" 2>&1 || fail 'Maven accepted a wrong checksum'
    grep -qF 'Checksum validation failed' "$work/package.log" || fail 'Maven failed for another reason' "$work/package.log"
}

# Makes a release, and verifies it as a stranger does. The long form makes the packages twice: both have the same bytes.
release() {
    ssh-keygen -q -t ed25519 -N '' -f "$work/key"
    DOZO_RELEASE_KEY=$work/key ./dozo release --rehearse "$work/release" > "$work/package.log" 2>&1 || fail './dozo release' "$work/package.log"
    printf 'dozo %s\n' "$(< "$work/key.pub")" > "$work/allowed"
    (cd "$work/release" && ssh-keygen -q -Y verify -f "$work/allowed" -I dozo -n dozo -s SHA256SUMS.sig < SHA256SUMS &&
        sha256sum --quiet -c SHA256SUMS && grep -q ' dozo_client-.*[.]whl$' SHA256SUMS && python3 -m json.tool ./*.cdx.json) > "$work/package.log" 2>&1 ||
        fail 'the release is not as signed' "$work/package.log"
    package=$(ls "$work"/release/*.tar.gz)
    check_lists
    check_maven
    [[ -n ${options[*]} ]] || {
        ./dozo package --deb "$work/again" > /dev/null 2> "$work/package.log"
        cmp "$package" "$work"/again/*.tar.gz && cmp "$work"/release/*.deb "$work"/again/*.deb || fail 'two packages of one commit differ'
    }
    [[ $(./dozo release "$work/second" 2>&1) == *'expected a version without -SNAPSHOT'* ]] || fail 'a release of a snapshot was not refused'
}

work=$(mktemp -d "${TMPDIR:-/tmp}/dozo-package.XXXXXX")
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
if [[ ${1:-} == --on-new-machine ]]; then
    package=$2
    options=("${@:3}")
    trap 'umount "$work/layers" 2> /dev/null; rm -rf "$work"' EXIT
    test_as_new_user
    exit 0
fi
[[ $(id -u) == 0 && $(uname -s) == Linux ]] || fail 'expected root on Linux'
for each in systemd-analyze systemd-sysusers unshare ip openssl ssh-keygen curl dpkg-deb python3 setpriv runuser sshd; do
    PATH=$PATH:/usr/sbin:/sbin type -P "$each" > /dev/null || fail "missing: $each"
done
options=()
if [[ ${1:-} == --short ]]; then
    options=(--without-caches)
    shift
fi
package=${1:+$(cd "$(dirname "$1")" && pwd)/$(basename "$1")}
[[ -n $package ]] || release
check_units
row 'package' "$(du -h --apparent-size "$package" | cut -f1)B"
unshare -mnp --fork --kill-child --mount-proc bash "$PWD/bench/package.sh" --on-new-machine "$package" "${options[@]}"
printf 'package: ok\n'
