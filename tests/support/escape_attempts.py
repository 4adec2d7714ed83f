"""Ways out of the confinement."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from remit.confine.profile import Profile

if TYPE_CHECKING:
    import subprocess

ATTEMPTS = {
    "umount": "umount $W/conf/locked; umount $W/conf; umount $W; umount /",
    "umount -l": "umount -l $W/conf/locked; umount -l $W/conf; umount -l $W; umount -l /proc; umount -l /",
    "remount rw": "mount -o remount,rw,bind $W/conf/locked; mount -o remount,rw $W/conf/locked",
    "remount / rw": "mount -o remount,rw,bind /; mount -o remount,rw /",
    "make-shared": "mount --make-rshared /; mount --make-runbindable /",
    "bind": "mkdir -p $W/m; mount --bind $O $W/m; echo x > $W/m/file; mount --bind $W $W/m; echo x > $W/m/conf/locked",
    "rbind": "mkdir -p $W/m; mount --rbind / $W/m; echo x > $W/m$O/file; echo x > $W/m$W/conf/locked",
    "move": "mkdir -p $W/m; mount --move $W/conf $W/m; mount --move $W $W/m",
    "bind parent": "mkdir -p $W/m; mount --bind $W/conf $W/m; echo x > $W/m/locked",
    "overlay": "mkdir -p $W/u $W/k $W/m; mount -t overlay o -o lowerdir=$O,upperdir=$W/u,workdir=$W/k $O; echo x > $O/file",
    "overlay below": "mkdir -p $W/u $W/k; mount -t overlay o -o lowerdir=$W/u,upperdir=$W,workdir=$W/k $W/u; echo x > $W/u/conf/locked",
    "tmpfs over it": "mount -t tmpfs t $W/conf && echo x > $W/conf/locked",
    "pivot_root": "mkdir -p $W/m; mount -t tmpfs t $W/m; mkdir $W/m/old; pivot_root $W/m $W/m/old; echo x > /old$O/file",
    "chroot": "chroot / sh -c \"echo x > $O/file\"; mkdir -p $W/r; chroot $W/r /bin/sh -c 'echo x > /../../../outside/file'",
    "nsenter": 'nsenter -t $PID -m sh -c "echo x > $O/file"; nsenter -t $PID -U -m sh -c "echo x > $O/file"; nsenter -t 1 -a sh -c "echo x > $O/file"',
    "/proc/PID/root": "echo x > /proc/$PID/root$O/file; echo x > /proc/1/root$O/file; echo x > /proc/$PPID/root$W/conf/locked",
    "/proc/PID/cwd": "echo x > /proc/$PID/cwd/file; echo x > /proc/$PID/task/$PID/cwd/file",
    "/proc/PID/fd": "echo x > /proc/$PID/fd/9; for f in /proc/$PID/fd/*; do echo x > $f; done",
    "/proc/PID/mem": "dd if=/dev/zero of=/proc/$PID/mem bs=1 count=1",
    "rename of ancestors": "mv $W/conf $W/c2; mkdir $W/conf; echo x > $W/conf/locked",
    "rename of the folder": "mv $W ${W}2; mv ${W%/*} ${W%/*}2",
    "exchange of ancestors": "mkdir $W/new; echo x > $W/new/locked; mv --exchange $W/new $W/conf; mv -T $W/new $W/conf",
    "link over ancestor": "mkdir $W/new; echo x > $W/new/locked; ln -sfn $W/new $W/conf; rm -rf $W/conf; ln -s $W/new $W/conf",
    "block device": "d=$(findmnt -no SOURCE /); mknod $W/dev b $(lsblk -no MAJ:MIN $d | tr : ' '); dd if=/dev/zero of=$d bs=1 count=0; debugfs -w -R 'write /etc/hostname x' $d",
    "mknod": "mknod $W/null c 1 3",
    "core_pattern": "echo '|/bin/false' > /proc/sys/kernel/core_pattern",
    "sysrq": "test -w /proc/sysrq-trigger && echo h > /proc/sysrq-trigger && echo x > $W/won",
    "devices chmod": "chmod 600 /dev/null /dev/zero && echo x > $W/won",
    "fresh proc": "mkdir -p $W/m; mount -t proc p $W/m && echo x > $W/m/sys/kernel/core_pattern",
    "fresh sysfs": "mkdir -p $W/m; mount -t sysfs s $W/m && test -w $W/m/kernel/profiling && echo x > $W/won",
    "capabilities": 'setpriv --inh-caps=+all --ambient-caps=+all sh -c "echo x > $O/file"; capsh --gid=0 -- -c "echo x > $O/file"',
    "setuid": 'su -c "echo x > $O/file" < /dev/null; sudo -n sh -c "echo x > $O/file"',
    "old cwd": "cd $W/conf; cd ..; echo x > ../outside/file; cd /proc/self/cwd/..; echo x > outside/file",
    "open_tree": "python3 -c \"import ctypes,os; c=ctypes.CDLL(None); f=c.syscall(428,-100,os.environb[b'W'],0x1|0x8000); c.syscall(442,f,b'',0x9000,bytes(8)+b'\\1'+bytes(23),32); open(f'/proc/self/fd/{f}/conf/locked','w')\"",
    "mount_setattr": "python3 -c \"import ctypes; print(ctypes.CDLL(None).syscall(442,-100,b'/',0x8000,bytes(8)+b'\\1'+bytes(23),32))\"; echo x > $O/file; echo x > $W/conf/locked",
    "name_to_handle_at": "python3 -c \"import ctypes,os; c=ctypes.CDLL(None); b=bytearray(136); b[0]=128; h=(ctypes.c_char*136).from_buffer(b); m=ctypes.c_int(); c.name_to_handle_at(-100,os.environb[b'O']+b'/file',h,ctypes.byref(m),0); f=c.open_by_handle_at(os.open('/',0),h,1); os.write(f,b'x')\"",
    "ptrace": "python3 -c \"import ctypes,os; assert ctypes.CDLL(None).ptrace(16,int(os.environ['PID']),0,0)==0; open(os.environ['W']+'/won','w')\"",
    "process_vm_writev": "gdb -p $PID -batch -ex 'call (int)system(\\\"true\\\")' && echo x > $W/won",
    "pidfd_getfd": "python3 -c \"import ctypes,os; p=os.pidfd_open(int(os.environ['PID'])); f=ctypes.CDLL(None).syscall(438,p,9,0); assert f>=0; os.write(f,b'x')\"",
    "kill": "kill -STOP $PID && echo x > $W/won; kill -TERM $PID && echo x > $W/won",
    "tgkill": "python3 -c \"import os,signal; os.pidfd_open(int(os.environ['PID'])); import ctypes; p=int(os.environ['PID']); assert ctypes.CDLL(None).syscall(234,p,p,15)==0; open(os.environ['W']+'/won','w')\"",
    "kill by pidfd": "python3 -c \"import os,signal; signal.pidfd_send_signal(os.pidfd_open(int(os.environ['PID'])),15); open(os.environ['W']+'/won','w')\"",
    "prlimit": "prlimit --pid $PID --cpu=1:1 && echo x > $W/won; python3 -c \"import os,resource; resource.prlimit(int(os.environ['PID']),resource.RLIMIT_NOFILE,(3,3)); open(os.environ['W']+'/won','w')\"",
    "SIGIO": "python3 -c \"import fcntl,os,socket,time; a,b=socket.socketpair(); fcntl.fcntl(a,8,int(os.environ['PID'])); fcntl.fcntl(a,10,15); fcntl.fcntl(a,4,os.O_ASYNC|os.O_NONBLOCK); b.send(b'x'); time.sleep(0.2)\"",
    "memfd": "python3 -c \"import os; f=os.memfd_create('x',0); os.write(f,b'#!/bin/sh\\necho x > $O/file\\n'); os.execve(f'/proc/self/fd/{f}',['x'],{})\"",
    "terminal": "script -qc 'python3 -c \"import fcntl; fcntl.ioctl(0,0x5412,b\\\"x\\\"); open(\\\"$W/won\\\",\\\"w\\\")\"' /dev/null",
    "terminal, high bits": "script -qc 'python3 -c \"import ctypes,os; assert ctypes.CDLL(None).syscall(16,0,ctypes.c_ulong(0x100005412),b\\\"x\\\")==0; open(\\\"$W/won\\\",\\\"w\\\")\"' /dev/null",
}  # fmt: skip
"""What to try, by its name; W is the writable folder, O one outside, PID a process outside."""
NESTED = "unshare -Urm --propagation unchanged bash -c '{}'", "unshare -Urmpf bash -c '{}'", "unshare -Um bash -c '{}'"


class Place(NamedTuple):
    """A writable folder with a protected file, a folder outside, and a process outside that has both open."""

    work: Path
    outside: Path
    process: subprocess.Popen[bytes]

    @property
    def profile(self) -> Profile:
        """The limits of an attempt."""
        return Profile(write=(str(self.work),), protect=(f"{self.work}/conf/locked",))

    def read(self) -> tuple[object, ...]:
        """Return what an attempt may not change."""
        pattern = Path("/proc/sys/kernel/core_pattern").read_text("utf-8")
        locked = self.work / "conf" / "locked"
        names = sorted(path.name for path in self.outside.iterdir())
        return locked.read_text(), locked.stat().st_ino, (self.outside / "file").read_text(), names, pattern

    def check(self) -> list[str]:
        """Return what an attempt achieved."""
        won = ["it reached a process or a device"] if (self.work / "won").exists() else []
        won += ["the process outside ended or stopped"] if self._state() not in "SRD" else []
        return won

    def _state(self) -> str:
        return Path(f"/proc/{self.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
