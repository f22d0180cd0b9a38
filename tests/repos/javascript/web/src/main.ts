import { one } from './util.js'
import type { Shape } from './shapes'
import deep from '@/deep/thing'
import { kit } from '@acme/kit'
import { part } from '@acme/kit/parts'
import fs from 'fs'
// import './never'
const text = `import './never'`
const lazy = () => import('./lazy')
export { one, deep, kit, part, lazy, text, fs }
