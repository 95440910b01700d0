/** Skills written after the shapes of real ones: each calls an API in another way, and says nothing of hosts but by its text. */
export interface Fixture {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly command: string
  /** Words of the line that the server notes: host, method, path. */
  readonly asked: RegExp
  /** A program that it needs, besides bash. */
  readonly needs?: string
}

const API = 'https://api.lab-weather.com'

const shell = (name: string, script: string, asked: RegExp, needs = 'curl'): Fixture => ({
  ...{ name, command: `bash {baseDir}/scripts/${name}.sh`, asked, needs },
  files: { [`scripts/${name}.sh`]: `#!/usr/bin/env bash\nset -eu\n${script}\n` },
})
const python = (name: string, script: string, asked: RegExp, needs = 'python3'): Fixture => ({
  ...{ name, command: `python3 {baseDir}/scripts/${name}.py`, asked, needs },
  files: { [`scripts/${name}.py`]: `${script}\n` },
})
const node = (name: string, script: string, asked: RegExp): Fixture => ({
  ...{ name, command: `node {baseDir}/scripts/${name}.mjs`, asked },
  files: { [`scripts/${name}.mjs`]: `${script}\n` },
})
/** The command is in the instructions only. */
const told = (name: string, command: string, asked: RegExp, needs = 'curl'): Fixture => ({
  ...{ name, command, asked, needs },
  files: { 'NOTES.md': '' },
})

const at = (path: string, method = 'GET'): RegExp =>
  new RegExp(`api\\.lab-weather\\.com ${method} api\\.lab-weather\\.com(?::\\d+)? ${path}`)

/** One skill with several ways, for each run of the tests. */
const SEVERAL: Fixture = {
  ...{ name: 'several-ways', command: 'bash {baseDir}/scripts/all.sh', asked: at('/g3'), needs: 'python3' },
  files: {
    'scripts/all.sh': `set -eu\ncd "$(dirname "$0")"\ncurl -fsS ${API}/g1\npython3 get.py\nnode get.mjs\n`,
    'scripts/get.py': `import urllib.request\nprint(urllib.request.urlopen("${API}/g2").read())\n`,
    'scripts/get.mjs': `console.log(await (await fetch('${API}/g3')).text())\n`,
  },
}

export const FIXTURES: readonly Fixture[] = [
  shell('curl-get', `curl -fsS ${API}/a1`, at('/a1')),
  shell('curl-query', `curl -fsS "${API}/a2?city=$(echo Bern)&units=metric"`, at('/a2\\?city=Bern')),
  shell('curl-post', `curl -fsS -X POST -H 'content-type: application/json' -d '{"q":1}' ${API}/a3`, at('/a3', 'POST')),
  shell('curl-variable', `BASE=${API}\ncurl -fsS "$BASE/a4"`, at('/a4')),
  shell('curl-header', `curl -fsS -H "Authorization: Bearer abc" ${API}/a5`, /\/a5 Bearer abc/),
  shell('curl-form', `curl -fsS -F file=@"$0" ${API}/a6`, at('/a6', 'POST')),
  shell('curl-retry', `curl -fsS --retry 2 --max-time 20 -o out.json ${API}/a7 && cat out.json`, at('/a7')),
  shell('curl-pipe', `curl -fsS ${API}/a8 | head -c 20`, at('/a8')),
  shell('curl-loop', `for n in 1 2 3; do curl -fsS ${API}/a9/$n; done`, at('/a9/3')),
  shell('curl-head', `curl -fsSI ${API}/b1`, at('/b1', 'HEAD')),
  shell('curl-plain', `curl -fsS http://api.lab-weather.com/b2`, /- GET api\.lab-weather\.com \/b2/),
  shell('curl-port', `curl -fsS ${API}:8443/b3`, at('/b3')),
  shell('curl-config', `printf 'url = "${API}/b4"\\n' | curl -fsS -K -`, at('/b4')),
  shell('curl-large', `curl -fsS ${API}/big | wc -c | grep -q 5000000`, at('/big')),
  shell('wget-get', `wget -q -O - ${API}/b5`, at('/b5'), 'wget'),
  shell('wget-file', `wget -q ${API}/b6 -O b6.json && test -s b6.json`, at('/b6'), 'wget'),
  shell('wget-post', `wget -q -O - --post-data 'x=1' ${API}/b7`, at('/b7', 'POST'), 'wget'),
  shell('function', `api() { curl -fsS "${API}$1"; }\napi /b8`, at('/b8')),
  shell('background', `curl -fsS ${API}/b9 > o & wait; cat o`, at('/b9')),
  python('urllib-get', `import urllib.request\nprint(urllib.request.urlopen("${API}/c1").read())`, at('/c1')),
  python(
    'urllib-request',
    `from urllib.request import Request, urlopen\nr = Request("${API}/c2", headers={"Authorization": "Bearer k"})\nprint(urlopen(r).status)`,
    /\/c2 Bearer k/,
  ),
  python(
    'urllib-post',
    `import json, urllib.request as u\nd = json.dumps({"a": 1}).encode()\nprint(u.urlopen(u.Request("${API}/c3", data=d, method="POST")).read())`,
    at('/c3', 'POST'),
  ),
  python(
    'urllib-put',
    `import urllib.request as u\nprint(u.urlopen(u.Request("${API}/c4", data=b"x", method="PUT")).read())`,
    at('/c4', 'PUT'),
  ),
  python(
    'urllib-base',
    `import urllib.request\nBASE = "${API}"\nprint(urllib.request.urlopen(BASE + "/c5").read())`,
    at('/c5'),
  ),
  python(
    'urllib-plain',
    `import urllib.request\nprint(urllib.request.urlopen("http://api.lab-weather.com/c6").read())`,
    /- GET api\.lab-weather\.com \/c6/,
  ),
  python(
    'urllib-threads',
    `from concurrent.futures import ThreadPoolExecutor as T\nfrom urllib.request import urlopen\nprint(list(T(4).map(lambda n: urlopen(f"${API}/c7/{n}").status, range(8))))`,
    at('/c7/7'),
  ),
  python('urlretrieve', `from urllib.request import urlretrieve\nurlretrieve("${API}/c8", "c8.json")`, at('/c8')),
  python(
    'requests-get',
    `import requests\nprint(requests.get("${API}/c9", timeout=20).json())`,
    at('/c9'),
    'python3 requests',
  ),
  python(
    'requests-session',
    `import requests\ns = requests.Session()\nprint(s.get("${API}/d1").ok, s.post("${API}/d2", json={"a": 1}).ok)`,
    at('/d2', 'POST'),
    'python3 requests',
  ),
  python('httpx-get', `import httpx\nprint(httpx.get("${API}/d3").json())`, at('/d3'), 'python3 httpx'),
  python(
    'aiohttp-get',
    `import aiohttp, asyncio\nasync def main():\n    async with aiohttp.ClientSession(trust_env=True) as s:\n        async with s.get("${API}/d4") as r: print(r.status)\nasyncio.run(main())`,
    at('/d4'),
    'python3 aiohttp',
  ),
  node('fetch-get', `console.log(await (await fetch('${API}/e1')).json())`, at('/e1')),
  node(
    'fetch-post',
    `console.log((await fetch('${API}/e2', { method: 'POST', body: '{}' })).status)`,
    at('/e2', 'POST'),
  ),
  node('fetch-base', `const url = new URL('/e3', '${API}')\nconsole.log(await (await fetch(url)).text())`, at('/e3')),
  node(
    'fetch-many',
    `console.log(await Promise.all([1, 2, 3].map(async (n) => (await fetch(\`${API}/e4/\${n}\`)).status)))`,
    at('/e4/3'),
  ),
  node(
    'https-get',
    `import { get } from 'node:https'\nget('${API}/e5', (response) => response.pipe(process.stdout))`,
    at('/e5'),
  ),
  node(
    'http-get',
    `import { get } from 'node:http'\nget('http://api.lab-weather.com/e6', (response) => response.pipe(process.stdout))`,
    /\/e6/,
  ),
  node(
    'spawned-curl',
    `import { execFileSync } from 'node:child_process'\nconsole.log(execFileSync('curl', ['-fsS', '${API}/e7']).toString())`,
    at('/e7'),
  ),
  told('told-curl', `curl -fsS ${API}/f1`, at('/f1')),
  told(
    'told-git',
    'git ls-remote https://github.com/acme/tool.git || true',
    /github\.com GET github\.com \/acme\/tool\.git\/info\/refs/,
    'git',
  ),
  told(
    'told-npm',
    'npm view left-pad version || true',
    /registry\.npmjs\.org GET registry\.npmjs\.org \/left-pad/,
    'npm',
  ),
  told(
    'told-pip',
    'python3 -m pip download --no-deps --no-binary :all: demo || pip install demo || true',
    /pypi\.org GET pypi\.org \/simple\/demo/,
    'python3 pip',
  ),
  {
    ...{
      name: 'go-binary',
      command: 'go build -o get {baseDir}/scripts/get.go && ./get',
      asked: at('/h1'),
      needs: 'go',
    },
    files: {
      'scripts/get.go': `package main\n\nimport (\n\t"fmt"\n\t"net/http"\n\t"os"\n)\n\nfunc main() {\n\tr, err := http.Get("${API}/h1")\n\tif err != nil {\n\t\tfmt.Fprintln(os.Stderr, err)\n\t\tos.Exit(1)\n\t}\n\tfmt.Println(r.Status)\n}\n`,
    },
  },
  told('told-gh', 'GH_TOKEN=abc gh api /zen', /api\.github\.com GET api\.github\.com \/zen/, 'gh'),
  SEVERAL,
  told('told-gh-api', 'curl -fsS https://api.github.com/user', /api\.github\.com GET api\.github\.com \/user/),
]

/** A SKILL.md that shows the command, as real ones do. */
export function skillText({ name, command }: Fixture): string {
  return `---\nname: ${name}\ndescription: Calls an API in the way of ${name}. Use when asked for it.\n---\n\n# ${name}\n\nRun:\n\n\`\`\`bash\n${command}\n\`\`\`\n`
}
