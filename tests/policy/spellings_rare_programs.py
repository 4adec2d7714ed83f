r"""Spellings: hidden words behind programs few people know, and files written in ways few people know."""

RUNNERS = ("memusage", "sotruss", "heaptrack", "dpkg-architecture -c", "gp-collect-app", "not-14", "gpg-agent --daemon", "./tools/with",
           "gprofng collect app", "msgexec -i po", "tools/with env", "bash tools/with", "sh ./tools/with")  # fmt: skip
"""Programs that run what they are given; the last ones are scripts of the project, which were there before."""
HIDING = r"""
@r@ $(printf '@p1@%s' @p2@) @a@
@r@ "$(printf '%s' @p1@ @p2@)" @a@
@r@ `echo @prev@ | rev` @a@
@r@ $(rev <<<@prev@) @a@
@r@ /usr/bin/@pi@[@pl@] @a@
@r@ /usr/bin/[@p1@]@p2@ @a@
@r@ bash -c "$(base64 -d <<<@b64@)"
@r@ sh -c "$(rev <<<'@rev@')"
@r@ $(base64 -d <<<@b64@)
@r@ $(xxd -r -p <<<@hex@)
@r@ bash < <(base64 -d <<<@b64@)
@r@ bash <<<"$(base64 -d <<<@b64@)"
base64 -d <<<@b64@ | @r@ sh
base64 -d <<<@b64@ > n; @r@ sh n
base64 -d <<<@b64@ > n; @r@ bash ./n
x=$(base64 -d <<<@b64@); @r@ $x
x=$(rev <<<@prev@); @r@ $x @a@
x=$(rev <<<@prev@); @r@ "$x" @a@
read -r x < <(rev <<<@prev@); @r@ $x @a@
export x=$(base64 -d <<<@b64@); @r@ sh -c '$x'
@r@ python3 -c 'import os; os.system(bytes([@dec@]).decode())'
@r@ perl -e 'system pack("C*",@dec@)'
@r@ awk 'BEGIN{system(sprintf("%c%s",substr("@p1@",1),"@p2@ @a@"))}'
@r@ env $(rev <<<@prev@) @a@
@r@ xargs $(rev <<<@prev@) @a@ </dev/null
@r@ find . -maxdepth 0 -exec $(rev <<<@prev@) @a@ \;
@r@ git -c alias.x="!$(base64 -d <<<@b64@)" x
ln -s /usr/bin/@p@ l; @r@ ./l @a@
cp /usr/bin/@p@ l; @r@ ./l @a@
cd /usr/bin; ~/project/tools/with ./@pi@[@pl@] @a@
"""

RARE_PROGRAMS = {
    "files written otherwise": r"""
git log -1 --format='format:@c@' --output=n; sh n
git diff --no-index --output=n /dev/null package.json; git log -1 --output=n --format='tformat:@c@'; . ./n
git show -s --format='format:@c@' --output n HEAD; bash n
git config -f m a.b '@c@'; git config -f m --get a.b > n; sh n
echo '@c@' > m; git add m; git checkout-index --prefix=d/ m; sh d/m
echo '@c@' > m; git add m; git commit -qm x; mv m k; git restore m; sh m
echo '@c@' > m; git add m; git commit -qm x; git worktree add -q ../w; sh ../w/m
echo '@c@' > m; git add m; git commit -qm x; git clone -q . c; sh c/m
echo '@c@' > m; git add m; git commit -qm x; git archive HEAD m | tar x -C src; sh src/m
echo '@c@' > m; git add m; git commit -qm x; git archive -o m.tar HEAD m; tar xf m.tar -C src; sh src/m
echo '@c@' > m; git add m; git commit -qm x; git format-patch -1 -o p -q; git rm -q m; git commit -qm y; git am -q p/*; sh m
echo '@c@' > m; git add m; git stash -q; git stash pop -q; sh m
echo '@c@' > m; git hash-object -w m | xargs git cat-file blob > n; sh n
echo '@c@' > m; git bundle create b HEAD 2>/dev/null; git merge-file -p m m m > n; sh n
sqlite3 :memory: "select writefile('n','@c@')"; sh n
sqlite3 :memory: '.once n' "select '@c@'"; sh n
sqlite3 :memory: '.output n' "select '@c@'"; sh n
sqlite3 :memory: <<<".output n␤select '@c@';"; sh n
uniq - n <<<'@c@'; sh n
shuf -o n <<<'@c@'; sh n
sort -on <<<'@c@'; sh n
sort --output=n <<<'@c@'; sh n
iconv -f ascii -t utf8 -o n <<<'@c@'; sh n
cpp -P - -o n <<<'@c@'; sh n
gcc -E -P -xc - -o n <<<'@c@'; sh n
logsave -s n echo '@c@' >/dev/null; grep -v '^Log\|^$\|^-\|^[A-Z]' n > m; sh m
script -qc "echo '@c@'" n >/dev/null; grep -v Script n | tr -d '\r' > m; sh m
/usr/bin/time -o n -f '@c@' true; sh n
/usr/bin/time --output=n --format='@c@' true; . ./n
strace -e trace=write -e write=1 -o m echo '@c@' >/dev/null; sed -n 's/.*write(1, "\(.*\)\\n".*/\1/p' m > n; sh n
echo '@c@' | zstd -q -o m.zst; zstd -dq m.zst -o n; sh n
echo '@c@' | lz4 -q - m.lz4; lz4 -dq m.lz4 n; sh n
echo '@c@' | xz > n.xz; xz -d n.xz; sh n
echo '@c@' | xz > n.xz; unxz n.xz; sh n
echo '@c@' | bzip2 > n.bz2; bunzip2 n.bz2; sh n
echo '@c@' | gzip > n.gz; gzip -d n.gz; sh n
echo '@c@' > n; gzip n; gunzip n.gz; sh n
echo '@c@' > n; zip -qm z n; unzip -q z; sh n
echo '@c@' > n; zip -qm z n; python3 -m zipfile -e z.zip .; sh n
echo '@c@' > n; tar cf t n; mv n k; python3 -m tarfile -e t .; sh n
echo '@c@' > n; jar cf j.jar n; mv n k; jar xf j.jar; sh n
echo '@c@' > n; ar rc a.a n; mv n k; ar x a.a; sh n
echo '@c@' > m; link m n; sh n
echo '@c@' > m; ln m n; sh ./n
echo '@c@' > m; mv m n; sh n
echo '@c@' > m; cp -l m n; sh n
echo '@c@' > m; cp -s $PWD/m n; sh n
echo '@c@' > m; rename.ul m n m; sh n
echo '@c@' > m; install m n; ./n 2>/dev/null || sh n
echo '@c@' > m; scp -q m n; sh n
echo '@c@' > m; cat m | cat > n; sh n
echo '@c@' > m; exec 5<m 6>n; cat <&5 >&6; sh n
echo '@c@' > m; while read -r l; do echo "$l"; done < m > n; sh n
echo '@c@' > m; mapfile l < m; printf %s "${l[@]}" > n; sh n
echo '@c@' > m; sed w\ n m >/dev/null; sh n
echo '@c@' > m; sed -n 'p;w n' m; sh n
echo '@c@' > m; awk '{print > "n"}' m; sh n
echo '@c@' > m; awk '{print >> "n"}' m; sh n
echo '@c@' > m; awk -v f=n '{print > f}' m; sh n
echo '@c@' > m; awk '{print | "cat > n"}' m; sh n
echo '@c@' > m; split -l 1 m n; sh naa
echo '@c@' > m; csplit -s -f n m 1 2>/dev/null; sh n00 ; sh n01
echo '@c@' > m; tail -1 m > n; sh n
echo '@c@' > m; perl -pe '' m > n; sh n
echo '@c@' > m; perl -i.n -pe 1 m; sh m.n
echo '@c@' > m; sed -i.n 's/zz//' m; sh m.n
echo '@c@' > m; sed -i 's/zz//' m; sh m
echo '@c@' > m; vim -es -c 'w n' -c q m; sh n
echo '@c@' > m; ed -s m <<<'w n'; sh n
echo '@c@' > m; ex -s -c 'w n' -c q m; sh n
echo '@c@' > m; xxd m | xxd -r - n; sh n
echo '@c@' > m; xxd -p m n.hex; xxd -r -p n.hex n; sh n
echo '@c@' > m; base64 m > k; base64 -d k > n; sh n
echo '@c@' > m; openssl enc -base64 -in m -out k; openssl enc -d -base64 -in k -out n; sh n
echo '@c@' > m; openssl zlib -in m -out n 2>/dev/null; openssl enc -aes128 -pass pass:x -in m -out k 2>/dev/null; openssl enc -d -aes128 -pass pass:x -in k -out n 2>/dev/null; sh n
echo '@c@' > m; gpg --batch --homedir . --passphrase x -o k -c m 2>/dev/null; gpg --batch --homedir . --passphrase x -o n -d k 2>/dev/null; sh n
echo '"@c@"' > m; jq -r . m > n; sh n
echo '"@c@"' > m; python3 -m json.tool m n; tr -d '"' < n > k; sh k
echo '@c@' > m; python3 -m base64 -e m > k; python3 -m base64 -d k > n; sh n
echo '@c@' > m; python3 -m gzip m; gzip -cd m.gz > n; sh n
echo '@c@' > m; python3 -c 'import shutil; shutil.copy("m","n")'; sh n
echo '@c@' > m; python3 -c 'import shutil; shutil.move("m","n")'; sh n
echo '@c@' > m; python3 -c 'import os; os.rename("m","n")'; sh n
echo '@c@' > m; python3 -c 'import os; os.link("m","n")'; sh n
echo '@c@' > m; python3 -c 'from pathlib import Path; Path("m").rename("n")'; sh n
echo '@c@' > m; node -e 'require("fs").renameSync("m","n")'; sh n
echo '@c@' > m; node -e 'require("fs").copyFileSync("m","n")'; sh n
echo '@c@' > m; perl -e 'rename "m","n"'; sh n
python3 -c 'print("@c@",file=open("n","w"))'; sh n
python3 -c 'f=open("n","w"); f.write("@c@"); f.close()'; sh n
python3 -c 'with open("n","w") as f: f.write(chr(@dec@).join([""])) if 0 else f.write("@c@")'; sh n
python3 -c 'p="n"; open(p,"w").write("@c@")'; sh n
python3 -c 'import pathlib as p; p.Path("n").write_bytes(bytes([@dec@]))'; sh n
python3 -c 'from pathlib import Path; (Path(".")/"n").write_text("@c@")'; sh n
python3 -c 'from pathlib import Path; Path("n").open("w").write("@c@")'; sh n
python3 -c 'import json; json.dump("x",open("m","w")); open("n","w").write("@c@")'; bash n
python3 -c 'import logging; logging.basicConfig(filename="n",format="%(message)s"); logging.error("@c@")'; sh n
python3 -c 'import base64; open("n","wb").write(base64.b64decode("@b64@"))'; sh n
python3 -c 'import sys; sys.stdout=open("n","w"); print("@c@")'; sh n
python3 -c 'import zipfile; z=zipfile.ZipFile("z","w"); z.writestr("n","@c@"); z.extractall()'; sh n
python3 -c 'import tempfile; open("n","w").write("@c@")'; sh n
python3 -c 'import sqlite3; open("n","w").write("@c@")'; sh n
python3 -c 'import urllib.request as u; open("m","w").write("@c@"); u.urlretrieve("file:m","n")'; sh n
python3 -c 'import re; open("n","w").write(re.sub("Q","","@p1@Q@p2@ @a@"))'; sh n
python3 - <<'E'␤open("n", "w").write("@c@")␤E␤sh n
python3 - <<'E'␤from pathlib import Path␤Path("n").write_text("@c@")␤E␤sh n
python3 - <<'E'␤text = "@p1@" + "@p2@ @a@"␤with open("n", "w") as f:␤    print(text, file=f)␤E␤bash n
python3 - n <<'E'␤import sys␤open(sys.argv[1], "w").write("@c@")␤E␤sh n
node -e 'const fs=require("fs"); fs.writeFileSync("n","@c@")'; sh n
node -e 'require("fs").appendFileSync("n","@c@")'; sh n
node -e 'require("fs").createWriteStream("n").end("@c@")'; sh n
node -e 'require("fs/promises").writeFile("n","@c@")'; sh n
node -e 'const p="n"; require("fs").writeFileSync(p,Buffer.from("@b64@","base64"))'; sh n
node <<'E'␤require("fs").writeFileSync("n", "@c@");␤E␤sh n
perl -e 'open(my $f,">","n"); print $f "@c@"; close $f'; sh n
perl -e 'open F,">n"; print F "@c@"'; . ./n
perl -i -pe 's/one/@p@ @a1@/ if 0' notes.txt; perl -e 'print STDOUT "@c@"' > n; sh n
perl -pi -e '$_="" if $.>1; s/.*/"@p@ ".join(" ",split(" ","@a@"))/e' notes.txt; sh notes.txt
sed -i '1s/.*/@p@/;2,$d' notes.txt; printf '%s ' $(cat notes.txt) @a@ > n; sh n
sed -i '1c\@c@' notes.txt; sh notes.txt
sed -i '1i\@c@' src/main.py; sh src/main.py
sed -i 's,^one$,@c@,' notes.txt; sh notes.txt
sed -i -e '$a @c@' notes.txt; bash notes.txt
sed -i -n '1i @c@' notes.txt; . ./notes.txt
awk -i inplace 1 notes.txt 2>/dev/null; awk 'BEGIN{print "@c@" > "/dev/stdout"}' > n; sh n
awk 'BEGIN{f="n"; print "@c@" > f}'; sh n
awk 'BEGIN{printf "%s\n","@c@" > "n"; close("n"); while((getline l < "n")>0) system(l)}'
exec >n; echo '@c@'; exec >/dev/null; sh n
exec 3>&1 >n; echo '@c@'; exec >&3; sh n
{ echo true; echo '@c@'; } | tee n | cat >/dev/null; sh n
echo true > n; echo '@c@' >> n; sh n
echo -n @p@ > n; echo -n ' ' >> n; echo '@a@' >> n; sh n
printf @p1@ > n; printf '@p2@ @a@' >> n; sh n
printf '%s' @p1@ @p2@ ' @a@' > n; bash n
echo '@p@ \' > n; echo '@a@' >> n; sh n
echo 'x=@p@' > n; echo '$x @a@' >> n; sh n
echo '$1 @a@' > n; sh n @p@
echo '"$@"' > n; sh n @c@
echo '"$@"' > n; bash ./n @c@
echo 'exec "$@"' > n; chmod 755 n; ./n @c@
echo 'eval "$x"' > n; x='@c@' sh n
echo '$(cat m)' > n; echo '@c@' > m; sh n
echo '. ./m' > n; echo '@c@' > m; sh n
BASH_XTRACEFD=9 9>m; exec 9>m; BASH_XTRACEFD=9; set -x; : @c@; set +x; sed -n 's/^+ : @p@/@p@/p' m > n; sh n
set -o history; history -s '@c@'; history -w n; sh n
f() { @c@; }; declare -f f > n; echo f >> n; sh n
f() { @c@; }; declare -f f > n; . ./n; f
alias x='@c@'; alias -p | sed "s/alias x='//;s/'$//" > n; sh n
x='@c@'; declare -p x > n; . ./n; $x
x='@c@'; printf '%s\n' "${x@A}" > n; . ./n; eval "$x"
export x='@c@'; env | grep ^x= | cut -d= -f2- > n; sh n
export x='@c@'; export -p > n; bash -c '. ./n; $x'
complete -C '@c@' x; complete -p x | sed "s/complete -C '//;s/' x//" > n; sh n
trap '@c@' USR1; trap -p > n; sed -i "s/trap -- '//;s/' .*//" n; sh n
find . -maxdepth 0 -fprintf n '@c@\n'; . ./n
find . -maxdepth 0 -fprint0 m -fprintf n '@p@ @a@\n'; bash < n
find . -maxdepth 0 -printf '@c@\n' > n; sh n
stat --printf='@c@\n' . > n; sh n
date +'@c@' > n; sh n
ls --time-style='+@c@' -ld . >/dev/null; date '+@c@' | tee n; sh n
ctags -f n --help >/dev/null; tac <<<'@c@' > n; sh n
msgcat --version >/dev/null; printf 'msgid "a"\nmsgstr "@c@"\n' > m.po; msgexec -i m.po cat > n 2>/dev/null; sed '/^$/d' n > k; sh k
printf '@c@' | xargs -0 -I{} sh -c 'echo "{}" > n'; sh n
printf '@c@' | xargs -0 echo > n; sh n
cat <<'E' > n.tmp && mv n.tmp n && sh n␤@c@␤E
tee n >/dev/null <<'E'␤@c@␤E␤sh n
cat > d.patch <<'E'␤--- /dev/null␤+++ b/n␤@@ -0,0 +1 @@␤+@c@␤E␤patch -sp1 < d.patch; sh n
cat > d.patch <<'E'␤--- /dev/null␤+++ b/n␤@@ -0,0 +1 @@␤+@c@␤E␤git apply d.patch; sh n
cat > d.patch <<'E'␤--- a/notes.txt␤+++ b/notes.txt␤@@ -1,2 +1,3 @@␤+@c@␤ one␤ two␤E␤git apply d.patch && sh notes.txt
cat > d.patch <<'E'␤--- a/notes.txt␤+++ b/notes.txt␤@@ -1,2 +1,3 @@␤+@c@␤ one␤ two␤E␤patch -sp1 -i d.patch; sh notes.txt
""",
    "hidden in what is compiled": r"""
printf '.globl main\nmain: sub $8,%%rsp; lea s(%%rip),%%rdi; call system@PLT; xor %%eax,%%eax; add $8,%%rsp; ret\ns: .ascii "@p1@"\n.asciz "@p2@ @a@"\n' > n.s; gcc n.s -o n && ./n
printf '.globl main\nmain: sub $8,%%rsp; lea s(%%rip),%%rdi; call system@PLT; add $8,%%rsp; ret\ns: .byte @dec@,0\n' | gcc -xassembler - -o n; ./n
printf 'int main(){char c[]={@dec@,0};system(c);}' > n.c; gcc -w n.c -o n; ./n
printf 'int main(){system("@p1@" "@p2@ @a@");}' > n.c; gcc -w n.c; ./a.out
printf '#define S(a,b) a##b\nint main(){S(sys,tem)("@p1@" "@p2@ @a@");}' > n.c; gcc -w n.c -o n; ./n
printf 'int main(int c,char**v){execvp(v[1],v+1);}' > n.c; gcc -w n.c -o n; ./n @c@
printf 'int main(int c,char**v){execvp(v[1],v+1);}' > n.c; gcc -w n.c -o n; ./n $(rev <<<@prev@) @a@
printf 'int main(int c,char**v){system(v[1]);}' > n.c; make -s n CFLAGS=-w; ./n '@c@'
printf 'int main(int c,char**v){char b[99];system(fgets(b,99,((void**(*)())0)?0:fdopen(0,"r")));}' > n.c; printf 'int main(){char b[99];read(0,b,98);system(b);}' > n.c; gcc -w n.c -o n; ./n <<<'@c@'
printf '#include "/dev/stdin"\n' > n.c; gcc -w n.c -o n <<<'int main(){system("@p1@" "@p2@ @a@");}'; ./n
gcc -w -xc -o n - <<<'int main(){system("@p1@" "@p2@ @a@");}'; ./n
gcc -w -xc -o n <(echo 'int main(){system("@p1@" "@p2@ @a@");}') && ./n
gcc -w -xc -o n /dev/stdin <<E && ./n␤int main(){system("@p1@" "@p2@ @a@");}␤E
g++ -w -xc++ -o n - <<<'#include <cstdlib>␤int main(){system("@p1@" "@p2@ @a@");}' && ./n
cat > n.java <<'E'␤class N{public static void main(String[] a)throws Exception{new ProcessBuilder(a).start().waitFor();}}␤E␤java n.java $(rev <<<@prev@) @a@
cat > n.java <<'E'␤class N{public static void main(String[] a)throws Exception{Runtime.getRuntime().exec("@p1@"+"@p2@ @a@").waitFor();}}␤E␤java n.java
groff -U <<<$'.ds x @p1@\n.sy \\*x@p2@ @a@'
troff -U <<E␤.ds x @p1@␤.sy \*x@p2@ @a@␤E
printf '.ds x @p1@\n.sy \\*x@p2@ @a@\n' > n; groff -U n
vim -es -c 'exe "!@p1@"."@p2@ @a@"' -c q
vim -es -c 'call system(join(["@p1@","@p2@ @a@"],""))' -c q
gdb -batch -ex 'python import os; os.system("@p1@"+"@p2@ @a@")'
gdb -batch -ex 'eval "shell %%s@p2@ @a@", "@p1@"' 2>/dev/null; gdb -batch -ex 'set $x=1' -ex 'shell $(rev <<<@prev@) @a@' 2>/dev/null; gdb -batch -ex 'shell @p1@""@p2@ @a@'
sqlite3 x '.shell @p1@""@p2@ @a@'
make -s --eval='x:;@p1@""@p2@ @a@' x
make -f - <<<$'P=@p1@\nx:;$(P)@p2@ @a@'
make -f - <<<$'x:;$(subst Q,,@p1@Q@p2@) @a@'
printf 'P=@p1@\nx:;@$(P)@p2@ @a@\n' > Makefile; make
printf 'x:;@@p1@""@p2@ @a@\n' > Makefile; make x
printf 'x:;@$(C)\n' > Makefile; make C='@c@'
printf 'x:;@$(C)\n' > Makefile; C='@c@' make
printf 'x:;@$(C)\n' > Makefile; make C="$(base64 -d <<<@b64@)"
printf 'set(p @p1@)\nexecute_process(COMMAND ${p}@p2@ @a@)\n' > n.cmake; cmake -P n.cmake
printf 'execute_process(COMMAND ${C} @a@)\n' > n.cmake; cmake -DC=$(rev <<<@prev@) -P n.cmake
printf 'p = @p1@\nrule r\n command = ${p}@p2@ @a@\nbuild x: r\n' > build.ninja; ninja
echo 'set p @p1@; exec ${p}@p2@ {*}{@a@}' > n; tclsh n
tclsh <<<'exec [join {@p1@ @p2@} ""] {*}{@a@}'
printf 'system("@p1@"."@p2@ @a@");' > n; perl n
printf 'require("child_process").execSync("@p1@"+"@p2@ @a@")' > n.js; node n.js
printf 'const c="child_"+"process"; require(c).execSync("@p1@"+"@p2@ @a@")' > n.cjs; node ./n.cjs
printf 'BEGIN{c="@p1@" "@p2@ @a@"; system(c)}' > n; awk -f n
printf '1e @p1@""@p2@ @a@\n' > n; sed -f n notes.txt
printf 'import os\nos.system("@p1@"+"@p2@ @a@")\n' > n.py; python3 n.py
printf 'def f(s): __import__("o"+"s").system(s)\n' > helper.py; python3 -c 'import helper; helper.f("@c@")'
printf 'def f(s):\n import os\n os.system(s)\n' > helper.py; python3 -c 'from helper import f; f("@p1@"+"@p2@ @a@")'
printf 'from os import system as f\n' > helper.py; python3 -c 'import helper as h; h.f("@c@")'
printf 'from os import *\n' > helper.py; python3 <<<'from helper import *; system("@c@")'
printf 'module.exports=require("child_process").execSync' > h.js; node -e 'require("./h")("@c@")'
printf 'exports.f=require("child_process").execSync' > h.js; node -p 'require("./h").f("@c@")+""'
printf 'sub f{system@_} 1' > H.pm; perl -I. -MH -e 'f(@list@)'
""",
    "harmless modules": r"""
python3 -c 'import logging.config as c; c.dictConfig({"version":1,"handlers":{"x":{"()":"os.system","command":"@c@"}},"root":{"handlers":["x"]}})'
python3 -c 'import logging.config as l; l.dictConfig({"version":1,"filters":{"f":{"()":"subprocess.getoutput","cmd":"@c@"}}})'
python3 -c 'import typing␤class A: x: "__import__(\"os\").system(\"@c@\")"␤typing.get_type_hints(A)'
python3 -c 'from typing import ForwardRef as F; F("__import__(\"os\").system(\"@c@\")")._evaluate({},{},recursive_guard=frozenset())'
python3 -c 'import os; os.walk.__globals__["system"]("@c@")'
python3 -c 'import os; os.getcwd.__self__.system("@c@")'
python3 -c 'import os; os.path.os.system("@c@")'
python3 -c 'import os; os.sys.modules["subprocess" if 0 else "posix"].system("@c@")'
python3 -c 'from os import getcwd, system; system("@c@")'
python3 -c 'from os import path; path.os.system("@c@")'
python3 -c 'from os.path import os; os.system("@c@")'
python3 -c 'import math; math.__loader__.load_module("posix").system("@c@")' 2>/dev/null; python3 -c 'import math; math.__spec__.loader; __import__("posix").system("@c@")'
python3 -c 'import sys; sys.modules["os"].popen("@c@").read()'
python3 -c 'import sys; sys.modules["posix"].system("@c@")'
python3 -c 'import sys; m=sys.modules; m["os"].system("@c@")'
python3 -c 'import sys; next(v for k,v in sys.modules.items() if k=="posix").system("@c@")'
python3 -c 'import json; json.loads("[1]"); json.decoder.re.enum.sys.modules["os"].system("@c@")'
python3 -c 'import json; json.detect_encoding.__globals__["codecs"].sys.modules["os"].system("@c@")'
python3 -c 'import collections as c; c._sys.modules["os"].system("@c@")'
python3 -c 'from collections import _sys as s; s.modules["os"].system("@c@")'
python3 -c 'import functools as f; f.reduce(getattr,["modules"],__import__("sys"))["os"].system("@c@")'
python3 -c 'import itertools as i, os; list(i.starmap(os.system,[("@c@",)]))'
python3 -c 'import itertools, os; next(map(os.system,["@c@"]))'
python3 -c 'import os; sorted(["@c@"],key=os.system)'
python3 -c 'import os; max(["@c@","true"],key=os.system)'
python3 -c 'import os; any(filter(os.system,["@c@"]))'
python3 -c 'import os; dict.fromkeys(map(os.popen,["@c@"]))'
python3 -c 'import os; {"a":os.system}["a"]("@c@")'
python3 -c 'import os; [os.system][0]("@c@")'
python3 -c 'import os; (os.system if 1 else print)("@c@")'
python3 -c 'import os; f=g=os.system; g("@c@")'
python3 -c 'import os; a,b=os.system,1; a("@c@")'
python3 -c 'import os␤for f in (os.system,): f("@c@")'
python3 -c 'import os␤match 1:␤ case _: os.system("@c@")'
python3 -c 'import os␤lambda: 0␤(lambda s=os.system: s("@c@"))()'
python3 -c 'import os␤class A:␤ f=os.system␤A.f("@c@")'
python3 -c 'import os␤class A(str):␤ __len__=lambda s: os.system(s)or 1␤len(A("@c@"))'
python3 -c 'import os␤@os.system␤def f(): 0' 2>/dev/null; python3 -c 'import os␤@(lambda f: os.system("@c@"))␤def f(): 0'
python3 -c 'import os␤async def f(): os.system("@c@")␤f().send(None)' 2>/dev/null; python3 -c 'import os␤def g():␤ yield os.system("@c@")␤next(g())'
python3 -c 'import re, os; re.sub("x", lambda m: str(os.system("@c@")), "x")'
python3 -c 'import re,sys; re.sub("x", sys.modules["os"].popen, "x") if 0 else sys.modules["os"].system("@c@")'
python3 -c 'import string; string.Formatter().get_field; __import__("os").system("@c@")'
python3 -c 'import pathlib; pathlib.Path.cwd.__globals__["os"].system("@c@")' 2>/dev/null; python3 -c 'import pathlib; pathlib.os.popen("@c@").read()'
python3 -c 'from pathlib import *; import pathlib as p; getattr(p,"os").system("@c@")'
python3 -c 'import datetime as d; d.sys.modules["os"].system("@c@")'
python3 -c 'import time; time.__loader__; import sys as s; s.modules["os"].system("@c@")'
python3 -c 'import yaml; yaml.unsafe_load("!!python/object/apply:os.system [\"@c@\"]")' 2>/dev/null; python3 -c 'import pickle; pickle.loads(b"cposix\nsystem\n(V@c@\ntR.")'
python3 -c 'import pickle,base64; class_=type("A",(),{"__reduce__":lambda s:(__import__("os").system,("@c@",))}); pickle.loads(pickle.dumps(class_()))' 2>/dev/null; python3 -c 'import pickle␤class A:␤ def __reduce__(s): return (eval,("__import__(\"os\").system(\"@c@\")",))␤pickle.loads(pickle.dumps(A()))'
python3 -c 'import copy,os␤class A:␤ def __deepcopy__(s,m): os.system("@c@")␤copy.deepcopy(A())'
python3 -c 'import unittest,os␤class T(unittest.TestCase):␤ def test(s): os.system("@c@")␤unittest.main()'
python3 -c 'import contextlib,os␤with contextlib.ExitStack() as s: s.callback(os.system,"@c@")'
python3 -c 'import weakref,os; o=set(); weakref.finalize(o,os.system,"@c@"); del o'
python3 -c 'import sys,os; sys.excepthook=lambda *a: os.system("@c@"); 1/0'
python3 -c 'import sys,os; sys.addaudithook(lambda e,a: e=="open" and not sys.argv.append(1) and len(sys.argv)==2 and os.system("@c@")); open("notes.txt")'
python3 -c 'import io; io.open_code; io.__loader__; import os as o; o.system("@c@")'
python3 -c 'import fileinput; fileinput.os.system("@c@")'
python3 -c 'import linecache; linecache.os.system("@c@")'
python3 -c 'import zipfile; zipfile.os.system("@c@")'
python3 -c 'import tarfile; tarfile.os.system("@c@")'
python3 -c 'import gzip; gzip.os.system("@c@")'
python3 -c 'import configparser; configparser.os.system("@c@")'
python3 -c 'import gettext; gettext.os.system("@c@")'
python3 -c 'import calendar; calendar.sys.modules["os"].system("@c@")'
python3 -c 'import fractions; fractions.sys.modules["os"].system("@c@")'
python3 -c 'import secrets; secrets.base64.re.enum.sys.modules["os"].system("@c@")'
python3 -c 'import hashlib; import random as r; r._os.system("@c@")'
python3 -c 'import heapq, bisect; import os; os.system("@c@")'
python3 -c 'import urllib.request; urllib.request.os.system("@c@")'
python3 -c 'import http.server; http.server.os.system("@c@")'
python3 -c 'import socket; socket.os.system("@c@")'
python3 -c 'import sqlite3,os; c=sqlite3.connect(":memory:"); c.create_function("f",1,os.system); c.execute("select f(?)",("@c@",)).fetchone()'
python3 -c 'import sqlite3; c=sqlite3.connect(":memory:"); c.create_function("f",1,__import__("os").system); c.execute("select f(\"@c@\")").fetchone()'
python3 -c 'import inspect; inspect.os.popen("@c@").read()'
python3 -c 'import importlib; importlib.import_module("o"+"s").system("@c@")'
python3 -c 'import importlib; importlib.sys.modules["os"].system("@c@")'
python3 -c 'import importlib.util as u; u.sys.modules["os"].system("@c@")' 2>/dev/null; python3 -c 'import importlib.resources as r; r.os.system("@c@")'
python3 -c 'import importlib.metadata as m; m.os.system("@c@")'
node -e 'process.getBuiltinModule("child_process").execSync("@c@")' 2>/dev/null; node -e 'process.binding; module.require("child_process").execSync("@c@")'
node -e 'const m="child_process"; import(m).then(c=>c.execSync("@c@"))'
node -e 'import("child_"+"process").then(c=>c.execSync("@c@"))'
node -e 'const {createRequire}=require("module"); createRequire("/")("child_process").execSync("@c@")'
node -e 'require("fs").readFileSync; require("module").prototype.require("child_process").execSync("@c@")'
node -e 'Object.values(require("module")).find; global.require("child_process").execSync("@c@")' 2>/dev/null; node -e 'this.constructor.constructor("return process")().mainModule; require("child_process").execSync("@c@")'
node -e '[]["filter"]["constructor"]("r","r(`child_process`).execSync(`@c@`)")(require)'
node -e 'require("\x63hild_process").execSync("@c@")'
node -e 'require("child\u005fprocess").execSync("@c@")'
node -e 'require(["child","process"].join("_"))["execSync"]("@c@")'
node -e 'const r=require; for (const m of ["child_process"]) r(m).execSync("@c@")'
node -e 'JSON.parse("[\"child_process\"]").map(require)[0].execSync("@c@")' 2>/dev/null; node -e '["child_process"].map(m=>require(m))[0].execSync("@c@")'
node -e 'process.env.M="child_process"; require(process.env.M).execSync("@c@")'
M=child_process node -e 'require(process.env.M).execSync("@c@")'
node -e 'require(process.argv[1]).execSync(process.argv[2])' child_process '@c@'
node -e 'eval(process.argv[1])' 'require("child_process").execSync("@c@")'
node -e 'process.stdin.on("data",d=>eval(""+d))' <<<'require("child_process").execSync("@c@")'
node -e 'eval(require("fs").readFileSync(0,"utf8"))' <<<'require("child_process").execSync("@c@")'
node -e 'require("repl").start().write("require(\"child_process\").execSync(\"@c@\")\n.exit\n")' </dev/null
perl -e 'END{system("@c@")}'
perl -ne 'END{`@c@`}' notes.txt
perl -pe 's/(\w+)/`@c@`/e' notes.txt
perl -pe 's/one/qx"@p@ @a1@"/e; BEGIN{qx(@c@)}' notes.txt
perl -ne 'print if /one/ and !system "@c@"' notes.txt
perl -e '"a"=~/a(?{system("@c@")})/'
perl -e '$_="system q(@c@)"; s/(.+)/$1/ee'
perl -e 'print sort{system("@c@")}1,2'
perl -e '@x=map{qx(@c@)}1'
perl -e '&{"CORE::system"}("@c@")' 2>/dev/null; perl -e '$f=\&CORE::system; 1; exec "@c@"'
perl -e 'tie my $x,"A"; sub A::TIESCALAR{system "@c@"}'
perl -e '$SIG{__WARN__}=sub{system "@c@"}; warn 1'
perl -e 'local $SIG{ALRM}=sub{exec "@c@"}; kill ALRM=>$$; sleep 1'
perl -e 'sub AUTOLOAD{system "@c@"} foo()'
perl -e 'package A; sub DESTROY{system "@c@"} bless[]'
perl -MList::Util=first -e 'first{system $_}"@c@"'
perl -e 'use overload; print "${\(system q(@c@))}"'
perl -e 'print "@{[`@c@`]}"'
perl -e 'print <<`E`;␤@c@␤E␤'
perl -e 'open F,"<",\"x"; open G,"@c@ 2>&1 |"; <G>'
perl -e 'glob "x"; `$_` for "@c@"'
perl -nle '`$_`' <<<'@c@'
perl -e 'do{local $/; eval <STDIN>}' <<<'system "@c@"'
perl -e 'eval <>' <<<'system "@c@"'
awk 'BEGIN{while(("@c@"|getline x)>0);}'
awk '{print |& "@c@"}' notes.txt 2>/dev/null; awk '{print | "exec @c@"}' notes.txt
awk 'BEGIN{c="@p1@"; c=c "@p2@ @a@"; c|getline}'
awk 'BEGIN{print "" | ("@p1@" "@p2@ @a@")}'
awk 'BEGIN{p="@p1@" "@p2@"; print "@a@" | ("xargs " p)}'
awk 'function g(x){x|getline} BEGIN{g("@c@")}'
awk 'BEGIN{x["a"]="@c@"; x["a"]|getline}'
awk '$1=="one"{"@c@"|getline z}1' notes.txt
awk 'BEGIN{ARGV[1]="@c@"; ARGV[1]|getline}'
awk '{ $0 | getline }' <<<'@c@' 2>/dev/null; awk '{ c=$0; c | getline }' <<<'@c@'
awk 'BEGIN { printf("x") > "/dev/null"; printf("%s", "") | "@c@" }'
awk 'BEGIN { "date" | getline d; close("date"); "@c@" | getline }'
""",
}

LAME = {
    'printf \'msgid "a"\\nmsgstr "b"\\n\' > po; base64 -d <<<@b64@ | msgexec -i po sh',
    'printf \'msgid "a"\\nmsgstr "b"\\n\' > po; cd /usr/bin; ~/project/tools/with ./@pi@[@pl@] @a@',
}
"""Those that start nothing."""


def hide() -> str:
    """Each way of hiding a word with four of the runners, in turn."""
    ways = [line for line in HIDING.split("\n") if line]
    prepare = 'printf \'msgid "a"\\nmsgstr "b"\\n\' > po; '
    lines = []
    for number, way in enumerate(ways):
        for step in range(4):
            runner = RUNNERS[(number * 3 + step * 4) % len(RUNNERS)]
            lines.append((prepare if "msgexec" in runner else "") + way.replace("@r@", runner))
    return "\n".join(line for line in dict.fromkeys(lines) if line not in LAME)


RARE_PROGRAMS["hidden behind runners"] = hide()

OWN_RARE_PROGRAMS = {
    "rm": r"""
r{m,} notes.txt
r{m,m} notes.txt
{r,}m notes.txt 2>/dev/null; {rm,rm} notes.txt
""",
    "curl": r"""
c{url,} -s localhost:9
{c,}url localhost:9 2>/dev/null; c{,}url localhost:9
""",
}
