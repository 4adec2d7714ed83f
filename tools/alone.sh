#!/usr/bin/env sh
# Runs a command with no network but loopback, and says so loudly where that is not allowed.
# Usage: tools/alone.sh COMMAND [ARGUMENT…].
set -u
up='import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'
python=$(command -v python3 || command -v python)

# A new network has a loopback that is down: 0x8914 sets the flags of an interface, and 1 is up.
if [ "$(id -u)" = 0 ] && unshare --net "$python" -c "$up" 2>/dev/null; then
  exec unshare --net sh -c '"$0" -c "$1" && shift && exec "$@"' "$python" "$up" "$@"
fi
echo "*** A network without anything but loopback cannot be made here. What follows has that of this machine." >&2
exec "$@"
