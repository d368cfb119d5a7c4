"use strict";var profkit=(()=>{var __defProp=Object.defineProperty;var __getOwnPropDesc=Object.getOwnPropertyDescriptor;var __getOwnPropNames=Object.getOwnPropertyNames;var __hasOwnProp=Object.prototype.hasOwnProperty;var __export=(target,all)=>{for(var name in all)__defProp(target,name,{get:all[name],enumerable:!0})},__copyProps=(to,from,except,desc)=>{
if(from&&typeof from=="object"||typeof from=="function")for(let key of __getOwnPropNames(from))!__hasOwnProp.call(
to,key)&&key!==except&&__defProp(to,key,{get:()=>from[key],enumerable:!(desc=__getOwnPropDesc(from,key))||desc.
enumerable});return to};var __toCommonJS=mod=>__copyProps(__defProp({},"__esModule",{value:!0}),mod);var main_exports={};__export(main_exports,{boxName:()=>boxName,costsOf:()=>costsOf,currentRun:()=>currentRun,currentTree:()=>currentTree,
formatBytes:()=>formatBytes,formatShare:()=>formatShare,formatTime:()=>formatTime,fragmentOf:()=>fragmentOf,graph:()=>graph,
head:()=>head,paletteOf:()=>paletteOf,pathTo:()=>pathTo,plusMinus:()=>plusMinus,scaleOf:()=>scaleOf,setState:()=>setState,
state:()=>state,stateOf:()=>stateOf,treeOf:()=>treeOf,zoomBy:()=>zoomBy,zoomOut:()=>zoomOut,zoomTo:()=>zoomTo});var KINDS={u8:Uint8Array,u16:Uint16Array,u32:Uint32Array,f64:Float64Array},buffer=new ArrayBuffer(0),head=JSON.
parse(textOf("profkit-head")),changes=new Map((head.comparison?.functions??[]).map(each=>[each.function,each]));
async function unpackColumns(){let packed=bytesOf(textOf("profkit-columns"));document.getElementById("profkit-\
columns")?.remove();let stream=new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));buffer=
await new Response(stream).arrayBuffer()}function column(name){let place3=head.columns[name];return place3?new KINDS[place3.
kind](buffer,place3.offset,place3.count):new Uint32Array(0)}function textOf(id){return document.getElementById(
id)?.textContent??""}function bytesOf(base64){let{fromBase64}=Uint8Array;if(fromBase64)return fromBase64.call(
Uint8Array,base64);let text=atob(base64),bytes=new Uint8Array(text.length);for(let i=0;i<text.length;i++)bytes[i]=
text.charCodeAt(i);return bytes}function foldStacks({shared,length,frames}){let count=frames.length+1,shape={parent:new Uint32Array(count),end:new Uint32Array(
count),depth:new Uint16Array(count),fn:new Uint32Array(count),leaf:new Uint32Array(length.length),deepest:0},path=[
0],next3=1;for(let stack2=0;stack2<length.length;stack2++){for(let depth=path.length-1;depth>shared[stack2];depth--)
shape.end[path[depth]]=next3;path.length=shared[stack2]+1;for(let depth=path.length;depth<=length[stack2];depth++)
shape.fn[next3]=frames[next3-1],shape.parent[next3]=path[depth-1],shape.depth[next3]=depth,path.push(next3++);
shape.leaf[stack2]=path[length[stack2]],shape.deepest=Math.max(shape.deepest,length[stack2])}for(let node of path)
shape.end[node]=count;return shape}function weighTree(shape,pairs,run,thread,activity="all"){let self=new Float64Array(
shape.fn.length);for(let pair2=0;pair2<pairs.stack.length;pair2++)(thread==="all"||pairs.thread[pair2]===thread)&&
(self[shape.leaf[pairs.stack[pair2]]]+=activeWeight(pairs,pair2,activity));let total=self.slice();for(let node=total.
length-1;node>0;node--)total[shape.parent[node]]+=total[node];return{...shape,run,thread,activity,self,total,children:new Map}}
function activeWeight({weight,waiting:waiting2},at2,activity){let waited=waiting2.length?waiting2[at2]:0;return activity===
"all"?weight[at2]:activity==="waiting"?waited:weight[at2]-waited}function childrenOf(tree2,node){let known=tree2.
children.get(node);if(known)return known;let found3=[];for(let child2=node+1;child2<tree2.end[node];child2=tree2.
end[child2])tree2.total[child2]>0&&found3.push(child2);return found3.sort((a,b)=>tree2.total[b]-tree2.total[a]||
a-b),found3.length>1&&tree2.children.set(node,found3),found3}function pathTo(tree2,node){let path=[];for(let at2=node;at2>
0;at2=tree2.parent[at2])path.push(at2);return path.reverse()}function sumCosts(tree2,many,stated){let[self,total]=[
new Float64Array(many),new Float64Array(many)],[places2,until]=[new Uint32Array(many),new Uint32Array(many)];for(let node=1;node<
tree2.fn.length;node++){if(tree2.total[node]===0){node=tree2.end[node]-1;continue}let fn=tree2.fn[node];self[fn]+=
tree2.self[node],places2[fn]++,!(node<until[fn])&&(until[fn]=tree2.end[node],total[fn]+=tree2.total[node])}return stated.
functions.forEach((fn,i)=>{total[fn]=stated.totals[i]}),{self,total,places:places2,groups:new Map}}function outermostGroup(tree2,fn){
let nodes=[];for(let node=1;node<tree2.fn.length;node++)tree2.fn[node]===fn&&(tree2.total[node]>0&&nodes.push(
node),node=tree2.end[node]-1);let weights=nodes.map(node=>tree2.total[node]);return{fn,nodes,weights,weight:weights.
reduce((sum,weight)=>sum+weight,0)}}function callersOf(tree2,group){let found3=new Map;return group.nodes.forEach(
(node,i)=>{let above=tree2.parent[node];node!==0&&add(found3,above===0?null:tree2.fn[above],above,group.weights[i])}),
heaviestFirst(found3)}function calleesOf(tree2,group){let found3=new Map;for(let node of group.nodes)for(let child2=node+
1;child2<tree2.end[node];child2=tree2.end[child2])tree2.total[child2]>0&&add(found3,tree2.fn[child2],child2,tree2.
total[child2]);return heaviestFirst(found3)}function add(groups,fn,node,weight){let group=groups.get(fn)??{fn,
nodes:[],weights:[],weight:0};groups.set(fn,group),group.nodes.push(node),group.weights.push(weight),group.weight+=
weight}function heaviestFirst(groups){return[...groups.values()].sort((a,b)=>b.weight-a.weight||(a.fn??-1)-(b.
fn??-1))}function sumLines({fn,line:line2,thread,self,total,waiting:waiting2,waitingTotal},wanted2,activity){let found3=[],
[own,all]=[{weight:self,waiting:waiting2},{weight:total,waiting:waitingTotal}];for(let row=0;row<fn.length;row++){
if(wanted2!=="all"&&(thread.length?thread[row]:0)!==wanted2)continue;let weights={self:activeWeight(own,row,activity),
total:activeWeight(all,row,activity)};if(!weights.total)continue;let last=found3.at(-1);last?.fn===fn[row]&&last.
line===line2[row]?(last.self+=weights.self,last.total+=weights.total):found3.push({fn:fn[row],line:line2[row],
...weights})}return found3}function weightByFile({fn,parent,self},files,isUsers2){let owner=new Uint32Array(fn.
length),weights=new Map;for(let node=1;node<fn.length;node++){let above=owner[parent[node]],isCall=!isUsers2(fn[node])&&
above>0&&isUsers2(fn[above]);owner[node]=isCall?above:node;let file=files[fn[owner[node]]];self[node]&&weights.
set(file,(weights.get(file)??0)+self[node])}return weights}function mergeByNumber(lines){let merged=new Map;for(let each of lines){
let known=merged.get(each.line);if(!known){merged.set(each.line,{...each});continue}let[outer,inner]=each.total>
known.total?[each,known]:[known,each],others=[...known.others??[],inner.fn];Object.assign(known,{fn:outer.fn,total:outer.
total,others}),known.self+=each.self,known.total=Math.max(known.total,known.self)}return merged}var MAX_TREES=6,shapes=new Map,trees=new Map,costs=new WeakMap;function cached(known,key,make2){let value=known.
get(key)??make2();return known.set(key,value),value}var shapeOf=run=>cached(shapes,run,()=>{let read2=name=>column(
`r${run}.${name}`);return foldStacks({shared:read2("shared"),length:read2("length"),frames:read2("frames")})});
function treeOf(run,thread="all",activity="all"){let key=`${run}/${thread}/${activity}`,tree2=trees.get(key)??
weigh(run,thread,activity);return trees.delete(key),trees.size===MAX_TREES&&trees.delete([...trees.keys()][0]),
trees.set(key,tree2),tree2}function weigh(run,thread,activity){let read2=name=>column(`r${run}.pair.${name}`),
pairs={stack:read2("stack"),thread:read2("thread"),weight:read2("weight"),waiting:read2("waiting")};return weighTree(
shapeOf(run),pairs,run,thread,activity)}var costsOf=tree2=>cached(costs,tree2,()=>sumCosts(tree2,head.functions.
name.length,statedTotals(tree2))),groupOf=(tree2,fn)=>cached(costsOf(tree2).groups,fn,()=>outermostGroup(tree2,
fn)),hasStatedTotals=tree2=>statedTotals(tree2).functions.length>0;function statedTotals({run,thread,activity}){
if(activity!=="all")return{functions:[],totals:[]};let prefix=thread==="all"||head.runs[run].threads.length===
1?`r${run}.totals`:`r${run}.${thread}.totals`;return{functions:column(`${prefix}.function`),totals:column(`${prefix}\
.weight`)}}var treeLines=new WeakMap,hasLines=()=>head.runs.some((_,run)=>column(`r${run}.lines.line`).length>
0),isUsers=fn=>head.packages[head.functions.package[fn]]?.kind==="user",linesOf=tree2=>cached(treeLines,tree2,
()=>findLines(tree2));function findLines(tree2){let read2=name=>column(`r${tree2.run}.lines.${name}`),lines=sumLines(
{fn:read2("function"),line:read2("line"),thread:read2("thread"),self:read2("self"),total:read2("total"),waiting:read2(
"waiting"),waitingTotal:read2("waiting_total")},tree2.thread,tree2.activity),grouped=Map.groupBy(lines,({fn})=>head.
functions.file[fn]),byFile=new Map([...grouped].map(([file,group])=>[file,mergeByNumber(group)]));return{lines,
byFile,files:weightByFile(tree2,head.functions.file,isUsers)}}var SVG="http://www.w3.org/2000/svg";function make(tag,attributes={},...children){return fill(document.createElement(
tag),attributes,children)}function draw(tag,attributes={},...children){return fill(document.createElementNS(SVG,
tag),attributes,children)}var button=(text,onClick2,attributes={})=>make("button",{type:"button",click:onClick2,
...attributes},text);function fill(element,attributes,children){for(let[name,value]of Object.entries(attributes))
value==null||value===!1||(typeof value=="function"?element.addEventListener(name,value):typeof value=="object"?
setStyle(element,value):element.setAttribute(name,value===!0?"":String(value)));return element.append(...children.
flat().filter(isShown)),element}function setStyle(element,properties){for(let[name,value]of Object.entries(properties))
element.style.setProperty(name,String(value))}var isShown=child2=>child2!=null&&child2!=="";var wholeThread=head.kind==="comparison"?1:"all",listeners=[],initialState=Object.freeze({run:0,thread:head.initial?.
thread??wholeThread,activity:head.initial?.activity??"all",view:"left-heavy",direction:"icicle",chains:"folded",
focus:0,range:null,cursor:0,selected:null,search:"",theme:"auto",tab:null,order:0}),current={...initialState},
state=current;function setState(changes2,origin="page"){let all={...consequences(changes2),...changes2},changed=Object.
keys(all).filter(name=>!isSame(current[name],all[name]));if(changed.length!==0){Object.assign(current,all);for(let{
names:wanted2,listener}of[...listeners])changed.some(name=>wanted2.has(name))&&listener(state,changed,origin)}}
function onChange(names,listener){listeners.push({names:new Set(names),listener})}function follow(names,show){
onChange(names,show),show()}var currentRun=()=>head.runs[state.run],currentTree=()=>treeOf(state.run,state.thread,
state.activity),hasGraph=()=>head.runs.some(run=>run.total>0);function consequences(changes2){let differs=name=>name in
changes2&&!isSame(changes2[name],state[name]);if(differs("run"))return{thread:wholeThread,focus:0,cursor:0,range:null};
if(differs("view"))return{focus:0,range:null};if(differs("thread")||differs("activity")){let{thread,activity}={
...state,...changes2};return{focus:treeOf(state.run,thread,activity).total[state.focus]>0?state.focus:0,range:null}}
return differs("focus")?{range:null}:{}}function isSame(a,b){let lists=Array.isArray(a)&&Array.isArray(b);return a===
b||lists&&a[0]===b[0]&&a[1]===b[1]}var NEXT={auto:"light",light:"dark",dark:"auto"},NAMES={auto:"Theme: system",light:"Theme: light",dark:"Theme:\
 dark"},system=matchMedia("(prefers-color-scheme: dark)"),watchers=[],printing=!1,isDark=()=>!printing&&(state.
theme==="dark"||state.theme==="auto"&&system.matches);function onTheme(watcher){watchers.push(watcher)}function themeButton(){
let label=make("span",{class:"off-screen"}),button2=make("button",{type:"button",class:"icon-button theme-butt\
on",click:()=>setState({theme:NEXT[state.theme]})},label);return follow(["theme"],()=>{label.textContent=button2.
title=NAMES[state.theme],button2.dataset.theme=state.theme}),button2}function followTheme(){apply(),onChange([
"theme"],apply),system.addEventListener("change",apply),addEventListener("beforeprint",()=>print(!0)),addEventListener(
"afterprint",()=>print(!1))}function apply(){document.documentElement.dataset.theme=state.theme,watchers.forEach(
watcher=>watcher(printing))}function print(now){printing=now,apply()}var SECONDS=[["d",86400],["h",3600],["min",60],["s",1],["ms",.001],["µs",1e-6],["ns",1e-9]],BYTES=[["TiB",2**
40],["GiB",2**30],["MiB",2**20],["KiB",2**10]],COUNTS=[["T",1e12],["G",1e9],["M",1e6]],MEASURED_TIMES=[["s",1],
["ms",.001],["µs",1e-6],["ns",1e-9]],AXIS_COUNTS=[["T",1e12],["G",1e9],["M",1e6],["k",1e3]],FAR_APART=1e3,digits=new Intl.
NumberFormat("en",{maximumFractionDigits:0});function threeDigits(value){let size2=Math.abs(value);return value.
toFixed(size2<9.995?2:size2<99.95?1:0)}function formatPercent(part,places2){let smallest=10**-places2,percent=part*
100;return percent>0&&percent<smallest/2?`<${smallest.toFixed(places2)} %`:`${evened(percent,places2).toFixed(
places2)} %`}function evened(number,places2){let steps=number*10**places2;return Number.isInteger(number*4)&&Math.
abs(steps%1)===.5?2*Math.round(steps/2)/10**places2:number}var Z_95=1.959963984540054;function shareInterval(weight,total){
if(total===0)return[0,1];let[share2,z2]=[weight/total,Z_95**2],centre=(share2+z2/(2*total))/(1+z2/total),spread=Math.
sqrt(share2*(1-share2)/total+z2/(4*total*total)),half=Z_95/(1+z2/total)*spread;return[weight===0?0:centre-half,
weight===total?1:centre+half]}function formatTime(seconds){if(seconds===0)return"0 s";let size2=Math.abs(seconds),
[unit,factor]=SECONDS.find(([,each])=>size2>=each*(each>1?1.5:.9995))??SECONDS[SECONDS.length-1];return`${threeDigits(
seconds/factor)} ${unit}`}function formatBytes(count){let[unit,factor]=BYTES.find(([,each])=>Math.abs(count)>=
each)??["B",1];return factor===1?`${digits.format(count)} B`:`${threeDigits(count/factor)} ${unit}`}function formatCount(number){
let[unit,factor]=COUNTS.find(([,each])=>Math.abs(number)>=each)??["",1];return factor===1?digits.format(number):
`${threeDigits(number/factor)} ${unit}`}var formatPoints=part=>`${part>0?"+":part<0?"−":""}${Math.abs(part*100).
toFixed(1)}`,isTimed=run=>typeof run.weight_s=="number";function formatWeight(run,amount2){return isTimed(run)?
formatTime(amount2*run.weight_s):run.unit==="bytes"?formatBytes(amount2):`${countOf(run,amount2)} ${amount2===
1?run.unit.replace(/s$/,""):run.unit}`}var countOf=(run,amount2)=>(run.unit==="instructions"?exactCount:formatCount)(
amount2),isNumber=value=>typeof value=="number",decimals=(value,places2)=>value.toLocaleString("en-US",{minimumFractionDigits:places2,
maximumFractionDigits:places2});function timesAlike(times_s){let sizes=times_s.filter(isNumber).filter(time=>time>
0),least=Math.min(...sizes),apart=Math.max(...sizes)>least*FAR_APART;return times_s.map(time=>isNumber(time)?inUnitOf(
apart?time:least,time):"")}function inUnitOf(reference_s,time_s){if(!(reference_s>0)||!Number.isFinite(reference_s))
return"0 s";let[unit,factor]=unitOf(reference_s);return`${decimals(time_s/factor,fourDigits(reference_s/factor))}\
 ${unit}`}var unitOf=size_s=>MEASURED_TIMES.find(([,factor])=>size_s>=factor)??MEASURED_TIMES[3],fourDigits=size2=>size2<
9.9995?3:size2<99.995?2:size2<999.95?1:0,exactTime=time_s=>timesAlike([time_s])[0];function exactCount(value){
if(!isNumber(value))return"";let text=decimals(Math.abs(value),Number.isInteger(value)||Math.abs(value)>=100?0:
1);return value<0?`−${text}`:text}var plural=(number,noun)=>`${exactCount(number)} ${noun}${number===1?"":"s"}`,
FACTORS=new Map([...SECONDS,...BYTES,...AXIS_COUNTS].filter(([unit])=>unit!=="k"));function numberIn(text){let[
,sign,number,unit]=/^([<+−±×÷]?) ?(\d[\d,.]*)(?![\d,.-])(?: (\S+))?/.exec(text)??[];if(number===void 0)return null;
let size2=Number(number.replaceAll(",",""))*(FACTORS.get(unit)??1);return sign==="×"?100*(size2-1):sign==="÷"?
100*(1/size2-1):sign==="−"?-size2:sign==="<"?size2/2:size2}function axisTexts(kind,values){let most=Math.max(
...values.map(Math.abs)),[unit,factor]=kind==="time"?unitOf(most):AXIS_COUNTS.find(([,size2])=>most>=10*size2)??
["",1],places2=placesOf(values.map(value=>value/factor));return values.map(value=>`${decimals(value/factor,places2)}\
 ${unit}`.trimEnd())}function placesOf(values){let step3=values.length>1?Math.abs(values[1]-values[0]):Math.abs(
values[0])/100;return step3>0?Math.min(6,Math.max(0,Math.ceil(-Math.log10(step3)-1e-9))):0}var MIN_PRECISE=1e3,MIN_SURE=.01,CHANGES={more:"more in B",less:"less in B",noise:"within noise"},formatShare=part=>formatPercent(
part,isCoarse()?0:1),isCoarse=()=>head.kind==="sampled"&&currentRun().total<MIN_PRECISE,hasIntervals=()=>head.
kind==="sampled"&&currentRun().unit==="samples",ONE_SIDED=3;function plusMinus(weight,total){if(!hasIntervals()||
!(weight>=MIN_SURE*total)||weight>total)return"";let[low,high]=shareInterval(weight,total),share2=weight/total,
isOneSided=share2-low>ONE_SIDED*(high-share2),points=isOneSided?share2-low:(high-low)/2;return`${isOneSided?"−":
"±"}${formatShare(points)}`.replace(" %","").replace("<","")}function placeOf(fn){let{file,line:line2}=head.functions;
return file[fn]?line2[fn]>0?`${file[fn]}:${line2[fn]}`:file[fn]:""}var packageOf=fn=>head.packages[head.functions.
package[fn]]?.name??"";function nodeName(tree2,node){return node>0?head.functions.name[tree2.fn[node]]:tree2.activity===
"all"?rootName(tree2):`${rootName(tree2)}, ${tree2.activity}`}function rootName(tree2){let{threads,label}=head.
runs[tree2.run],all=threads.length>1?`all ${threads.length} threads`:label;return tree2.thread==="all"?all:threads[tree2.
thread].name}function amountText(weight){let run=currentRun();return isTimed(run)||run.unit==="bytes"?formatWeight(
run,weight):countOf(run,weight)}function weightText(weight){let run=currentRun(),text=formatWeight(run,weight);
return!isTimed(run)||run.unit!=="samples"?text:`${text} · ${formatCount(weight)} sample${weight===1?"":"s"}`}
function differenceRows(fn){let found3=changes.get(fn);if(!found3)return[];let{of,a,b,low,high,change}=found3,
between=low===null||high===null?"":` (${formatPoints(low)} to ${formatPoints(high)})`;return[[of==="self"?"Sel\
f share, A → B":"Total share, A → B",`${formatShare(a)} → ${formatShare(b)}`],["Difference",`${formatPoints(
b-a)} points${between}`],["",CHANGES[change]]]}var CHANGE_HUES={more:52,less:252},LIGHT_CHANGE={least:[.91,.045],most:[.72,.165],noise:.9},DARK_CHANGE={least:[
.66,.05],most:[.74,.16],noise:.62};function oklch(lightness,chroma,hue){let[a,b]=[chroma*Math.cos(hue*Math.PI/
180),chroma*Math.sin(hue*Math.PI/180)],l=(lightness+.3963377774*a+.2158037573*b)**3,m=(lightness-.1055613458*a-
.0638541728*b)**3,s=(lightness-.0894841775*a-1.291485548*b)**3;return`#${[4.0767416621*l-3.3077115913*m+.2309699292*
s,-1.2684380046*l+2.6097574011*m-.3413193965*s,-.0041960863*l-.7034186147*m+1.707614701*s].map(hexOf).join("")}`}
function hexOf(linear){let bounded2=Math.min(1,Math.max(0,linear)),value=bounded2<=.0031308?12.92*bounded2:1.055*
bounded2**(1/2.4)-.055;return Math.round(value*255).toString(16).padStart(2,"0")}function shadeOf({light,dark:night},dark,functionName=null){
let[lightness,chroma,hue]=dark?night:light,step3=functionName===null?0:(hash(functionName)%5-2)/2;return oklch(
lightness+step3*.015,chroma,hue)}function hash(text){let value=2166136261;for(let i=0;i<text.length;i++)value=
Math.imul(value^text.charCodeAt(i),16777619);return value>>>0}function changeColor(change,size2,dark){let{least,
most,noise}=dark?DARK_CHANGE:LIGHT_CHANGE;if(change==="noise")return oklch(noise,0,0);let[lightness,chroma]=least.
map((from,i)=>from+(most[i]-from)*Math.sqrt(size2));return oklch(lightness,chroma,CHANGE_HUES[change])}function tonesOf(dark){
let tone=(light,night)=>dark?night:light;return{text:"#10131a",root:tone("#dfe2e8","#8b93a3"),lane:tone("#ecee\
f2","#262b36"),small:tone("#e9ebef","#2b303b"),match:tone("#a21caf","#d946ef"),matchText:tone("#ffffff","#1406\
1a"),ink:tone("#1a1d24","#e8eaf0"),faint:tone("#6b7280","#98a1b3"),chosen:tone("#3b2a12","#fff4e0"),line:tone(
"#e3e6eb","#2b303b"),ground:tone("#ffffff","#14171e"),ring:tone("#1d4ed8","#8ab4ff")}}var COLORS={user:[[{light:[
.82,.15,75],dark:[.8,.15,70]},{light:[.7,.15,45],dark:[.64,.15,50]}],[{light:[.92,.12,100],dark:[.82,.09,90]},
{light:[.76,.09,85],dark:[.72,.09,80]}]],library:[[{light:[.7,.12,265],dark:[.66,.12,260]},{light:[.82,.12,165],
dark:[.82,.12,165]},{light:[.82,.1,300],dark:[.82,.1,300]},{light:[.92,.04,225],dark:[.74,.04,215]}],[{light:[
.92,.12,165],dark:[.82,.04,225]},{light:[.7,.1,315],dark:[.62,.12,315]},{light:[.78,.06,185],dark:[.72,.12,235]},
{light:[.76,.06,275],dark:[.68,.06,265]}]],native:[[{light:[.72,0,0],dark:[.62,0,0]}],[{light:[.86,0,0],dark:[
.7,0,0]}]],none:[[{light:[.92,0,0],dark:[.78,0,0]}]]},HUES={user:[45,92],library:[170,318],native:[0,0],none:[
0,0]};function packageColors(packages,weights){let heaviest=[...packages.keys()].sort((a,b)=>weights[b]-weights[a]||
a-b),taken=new Set,colors2=[];for(let index of heaviest){let color=freeColor(packages[index],taken)??furtherColor(
packages[index]);taken.add(color),colors2[index]=color}return colors2}function freeColor({name,kind},taken){for(let group of COLORS[kind]){
let first=hash(name)%group.length,found3=[...group.slice(first),...group.slice(0,first)].find(color=>!taken.has(
color));if(found3)return found3}return null}function furtherColor({name,kind}){let[from,to]=HUES[kind],hue=from+
hash(name)%997/997*(to-from),chroma=to>from?.07:0;return{light:[.87,chroma,hue],dark:[.67,chroma,hue]}}var MIN_SCALE=.02,allNative=head.packages.every(({kind})=>kind==="native"||kind==="none"),palettes=new Map,largestChange=Math.
max(MIN_SCALE,...[...changes.values()].map(({a,b})=>Math.abs(b-a))),isDifference=head.kind==="comparison"&&changes.
size>0&&head.runs.length>0,paletteOf=dark=>cached(palettes,dark,()=>({...tonesOf(dark),fills:head.functions.name.
map((_,fn)=>(isDifference?differenceColor:ownColor)(fn,dark))})),packageColor=index=>shadeOf(colorOf(index),isDark()),
colors=null;function colorOf(index){return colors??=packageColors(head.packages.map(coloured),head.runs.length>
0?ownWeights(treeOf(0)):[]),colors[index]}function ownWeights(tree2){let own=new Float64Array(head.packages.length),
owners=head.functions.package;for(let node=1;node<tree2.fn.length;node++)own[owners[tree2.fn[node]]]+=tree2.self[node];
return own}var functionColor=fn=>isDifference?differenceColor(fn,isDark()):packageColor(head.functions.package[fn]);
function ownColor(fn,dark){let{name,package:owner}=head.functions;return shadeOf(colorOf(owner[fn]),dark,name[fn])}
function differenceColor(fn,dark){let change=changes.get(fn);return change?changeColor(change.change,Math.abs(
change.b-change.a)/largestChange,dark):changeColor("noise",0,dark)}var coloured=({name,kind})=>({name,kind:allNative&&
kind==="native"?"library":kind}),MAX_PACKAGES=8,legend=()=>isDifference?differenceLegend():packageLegend();function packageLegend(){
let list=make("ul",{class:"legend","aria-label":"Packages by self share"}),show=()=>list.replaceChildren(...packageEntries());
return follow(["run","thread","activity"],show),onTheme(show),list}function packageEntries(){let tree2=currentTree(),
own=ownWeights(tree2),order2=[...own.keys()].filter(index=>own[index]>0).sort((a,b)=>own[b]-own[a]),shown=order2.
slice(0,MAX_PACKAGES).map(index=>packageEntry(index,own[index]/tree2.total[0])),rest=order2.slice(MAX_PACKAGES).
reduce((sum,index)=>sum+own[index],0),others=`${order2.length-MAX_PACKAGES} more ${formatShare(rest/tree2.total[0])}`;
return rest>0&&shown.push(make("li",{class:"faint"},others)),shown}function packageEntry(index,share2){let{name,
kind}=head.packages[index],search=()=>setState({search:state.search===name?"":name});return make("li",{},make(
"button",{type:"button",title:name&&`Search for ${name}`,disabled:!name,click:search},make("span",{class:"swat\
ch",style:{"background-color":packageColor(index)}}),name?`${name}${kind==="native"?" (native)":""}`:"no file",
make("span",{class:"faint"},formatShare(share2))))}function differenceLegend(){let list=make("ul",{class:"lege\
nd legend-difference","aria-label":"Colours"}),swatch2=(change,size2)=>make("span",{class:"swatch",style:{"bac\
kground-color":changeColor(change,size2,isDark())}}),scale=change=>[.05,.35,1].map(size2=>swatch2(change,size2)),
show=()=>list.replaceChildren(make("li",{},scale("less").reverse(),"less in B"),make("li",{},swatch2("noise",0),
"within noise"),make("li",{},scale("more"),`more in B, up to ${(largestChange*100).toFixed(1)} points`));return onTheme(
show),show(),list}var cell=(content2,attributes={})=>make("td",attributes,content2),numberCell=content2=>make("td",{class:"numbe\
r"},content2),barCell=(share2,text,title=null)=>make("td",{class:"number bar-cell",title},make("span",{class:"\
bar-line"},share2>0?make("span",{class:"track","aria-hidden":"true"},bar(share2)):null,make("span",{class:"bar\
-text"},text))),shareBar=(share2,title=null,sure="")=>make("span",{class:"share-bar",title},make("span",{class:"\
track","aria-hidden":"true"},bar(share2)),make("span",{class:"bar-text"},formatShare(share2),sure&&" ",sure&&make(
"span",{class:"interval"},sure)));function sureShare(weight,whole){if(!weight)return[];let share2=make("span",
{class:"share"},formatShare(weight/(whole||1)));return hasIntervals()?[share2," ",make("span",{class:"interval"},
plusMinus(weight,whole))]:[share2]}function bar(share2){let width=`${Math.min(1,Math.max(0,share2))*100}%`;return make(
"span",{class:"bar","aria-hidden":"true",style:{width}})}var badge=(text,kind,title=null)=>make("span",{class:`\
badge ${kind}`,title},text),hint=text=>make("p",{class:"hint"},text),titled=(tag,title,remark)=>make(tag,{},title,
make("small",{},remark)),folded=(summary,content2,open=!1)=>make("details",{class:"numbers",open},make("summar\
y",{},summary),content2);function copyButton(name,text){let element=button(name,async()=>{let copied=await copy(
text());element.textContent=copied?"Copied":"Copying is blocked",setTimeout(()=>{element.textContent=name},1500)},
{class:"quiet","aria-live":"polite"});return element}async function copy(text){try{return await navigator.clipboard.
writeText(text),!0}catch{return copySelected(text)}}function copySelected(text){let field=make("textarea",{class:"\
off-screen",readonly:!0,"aria-hidden":"true"},text);document.body.append(field),field.select();let copied=document.
execCommand("copy");return field.remove(),copied}var LONGEST_PLACE=44,breakable=text=>text.split(/(?<=[._:/])(?=[^._:/])/).
flatMap((part,i)=>i?[make("wbr"),part]:[part]);function placeElement(place3,attributes={}){let shown=place3.length>
LONGEST_PLACE?`…${endOf(place3)}`:place3;return make("span",{class:"place",title:shown===place3?null:place3,
...attributes},breakable(shown))}function endOf(path){let slash=path.indexOf("/",path.length-LONGEST_PLACE);return path.
slice(slash<0?path.lastIndexOf("/"):slash)}function swatch(fn){let element=make("span",{class:"swatch","aria-h\
idden":"true","data-function":fn});return paint(element),element}function paint(element){element.style.backgroundColor=
functionColor(Number(element.dataset.function))}function followThemeInSwatches(){onTheme(()=>{for(let element of document.
querySelectorAll(".swatch[data-function]"))paint(element)})}var functionLink=(fn,onClick2=()=>{})=>make("span",
{class:"named"},swatch(fn),button(breakable(head.functions.name[fn]),onClick2,{class:"link",title:placeOf(fn)}));var FrameBatch=class{count=0;x=new Float64Array(4096);width=new Float64Array(4096);depth=new Uint16Array(4096);node=new Uint32Array(
4096);spot=new Float64Array(4096);small=new Uint8Array(4096);clear(){this.count=0}add(x,width,depth,node,spot,small=0){
this.count===this.x.length&&this.#grow();let i=this.count++;this.x[i]=x,this.width[i]=width,this.depth[i]=depth,
this.node[i]=node,this.spot[i]=spot,this.small[i]=small}addMany(x,width,depth,node,spot,part){this.add(x,width,
depth,node,spot,1+Math.ceil(part*254))}matchedPart(i){return(this.small[i]-1)/254}find(x,depth){for(let i=0;i<
this.count;i++)if(this.depth[i]===depth&&x>=this.x[i]&&x<this.x[i]+this.width[i])return i;return-1}#grow(){this.
x=grown(this.x),this.width=grown(this.width),this.depth=grown(this.depth),this.node=grown(this.node),this.spot=
grown(this.spot),this.small=grown(this.small)}};function grown(column2){let larger=new column2.constructor(2*column2.
length);return larger.set(column2),larger}var FAMILY='system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif';var widths=new Map,look={fill:"",text:"",alpha:1,outline:"",line:0};function paintGraph(context,scene2){let{size:size2,
ratio,palette}=scene2;context.setTransform(ratio,0,0,ratio,0,0),context.fillStyle=palette.ground,context.fillRect(
0,0,size2.width,size2.height),context.font=fontOf(12),context.textBaseline="middle",paintFrames(context,scene2),
context.globalAlpha=1,paintScale(context,scene2)}function paintFrames(context,scene2){let{batch:batch2,ratio,size:size2,
height}=scene2,gap=1/ratio;for(let i=0;i<batch2.count;i++){let y=scene2.top(batch2.depth[i]);if(y+height<=scene2.
ruler||y>=size2.height)continue;let left=Math.round(Math.max(0,batch2.x[i])*ratio)/ratio,right=Math.round(Math.
min(size2.width,batch2.x[i]+batch2.width[i])*ratio)/ratio,width=Math.max(gap,right-left-(right-left>3*gap?gap:
0));setLook(scene2,i),context.globalAlpha=look.alpha,context.fillStyle=look.fill,context.fillRect(left,y,width,
height-gap),batch2.small[i]>1&&tint(context,scene2,batch2.matchedPart(i),left,y,width),width>=26&&!batch2.small[i]&&
paintLabel(context,scene2,i,left,y,width),look.outline&&paintOutline(context,left,y,width,height-gap)}}function tint(context,{
palette,height,ratio},part,left,y,width){context.globalAlpha=.25+(1-.25)*part,context.fillStyle=palette.match,
context.fillRect(left,y,width,height-1/ratio)}function setLook(scene2,i){let{batch:batch2,palette,view:{tree:tree2,
rows}}=scene2,[node,small]=[batch2.node[i],batch2.small[i]],fn=tree2.fn[node];if(look.fill=small?palette.small:
node===0?palette.root:palette.fills[fn],look.text=palette.text,look.outline="",look.alpha=batch2.depth[i]<scene2.
focusDepth?.5:1,node===0&&!small&&scene2.view.thread(batch2.spot[i])!==null&&([look.fill,look.text]=[palette.lane,
palette.ink],batch2.spot[i]===scene2.cursor&&([look.outline,look.line]=[palette.ring,2.5])),small||node===0)return;
let functions2=rows.chains.get(node)?.map(each=>tree2.fn[each]),{matches,selected}=scene2;matches&&setMatch(functions2?
functions2.some(each=>matches[each]):matches[fn]===1,palette);let isSelected=functions2&&selected!==null?functions2.
includes(selected):fn===selected;batch2.spot[i]===scene2.cursor?[look.outline,look.line]=[palette.ring,2.5]:isSelected&&
([look.outline,look.line]=[palette.chosen,1.5])}function setMatch(matches,palette){look.alpha=matches?1:.32,matches&&
([look.fill,look.text]=[palette.match,palette.matchText])}function paintLabel(context,scene2,i,left,y,width){let shown=fittedText(
context,scene2.nameOf(scene2.batch.spot[i]),width-10);shown!==""&&(context.globalAlpha=Math.max(look.alpha,.62),
context.fillStyle=look.alpha<1?scene2.palette.ink:look.text,context.fillText(shown,left+5,y+scene2.height/2))}
function paintOutline(context,left,y,width,height){context.globalAlpha=1,context.strokeStyle=look.outline,context.
lineWidth=look.line;let inset=look.line/2;width>4?context.strokeRect(left+inset,y+inset,width-look.line,height-
look.line):look.line>2&&context.strokeRect(left,y+inset,2,height-look.line)}var fontOf=px=>`${px}px ${FAMILY}`;
function fittedText(context,text,width){let whole=textWidth(context,text);if(whole<=width)return text;for(let keep=Math.
floor(text.length*width/whole);keep>=2;keep--){let shown=`${text.slice(0,keep-1)}…`;if(context.measureText(shown).
width<=width)return shown}return""}function textWidth(context,text){let key=`${context.font}
${text}`,known=widths.get(key);if(known!==void 0)return known;let{width}=context.measureText(text);return widths.
set(key,width),width}function paintScale(context,scene2){let{size:size2,palette,ruler}=scene2;context.fillStyle=
palette.ground,context.fillRect(0,0,size2.width,ruler),context.font=fontOf(11),paintTicks(context,scene2),scene2.
marks.forEach(mark=>paintMark(context,scene2,mark)),context.fillStyle=palette.line,context.fillRect(0,ruler-1,
size2.width,1),paintPart(context,scene2)}function paintTicks(context,{size:size2,palette,ruler,ticks}){for(let{
x,text}of ticks){let width=textWidth(context,text);context.fillStyle=palette.line,context.fillRect(Math.round(
x),ruler-5,1,5),context.fillStyle=palette.faint;let left=Math.min(Math.max(x-width/2,5),size2.width-width-5);context.
fillText(text,left,ruler/2-2)}}function paintMark(context,{size:size2,palette,ruler},{x,room,text}){let shown=fittedText(
context,text,Math.min(160,room-10));context.fillStyle=palette.ink,context.fillRect(Math.round(x),0,1,size2.height),
context.fillStyle=palette.ground,context.fillRect(Math.round(x)+1,0,textWidth(context,shown)+10,ruler),context.
fillStyle=palette.ink,context.fillText(shown,x+5,ruler/2-2)}function paintPart(context,{size:size2,palette,ruler,
part:[from,to]}){if(to-from>=1)return;let width=Math.max(6,(to-from)*size2.width);context.fillStyle=palette.ring;
let left=Math.min(from*size2.width,size2.width-width);context.fillRect(left,ruler-3,width,3)}var SPACING_PX=90,CLEAR_PX=36,MIN_MARKED_PX=24,STEPS=[1,2,5,10],UNITS=[["h",3600],["min",60],["s",1],["ms",.001],
["µs",1e-6],["ns",1e-9]],MOST=601;function scaleOf(run,view3,window,widthPx){if(view3.total===0)return{ticks:[],
marks:[]};let place3=weight=>(weight-window[0])/(window[1]-window[0])*widthPx,marks=view3.marks().map(({thread,
at:at2},i,all)=>{let x=place3(at2);return{x,room:place3(all[i+1]?.at??view3.total)-x,text:run.threads[thread].
name}});return{ticks:ticksOf(run,window,widthPx,view3.origins(window)),marks:marks.filter(({x,room})=>x>=0&&x<
widthPx&&room>=MIN_MARKED_PX)}}function ticksOf(run,[from,to],widthPx,origins){let[unit,factor]=unitOf2(run,to-
from),perTick=(to-from)*SPACING_PX/widthPx/factor,isCount=!unit&&run.unit!=="bytes",step3=roundStep(isCount?Math.
max(1,perTick):perTick),digits2=Math.min(9,Math.max(0,-Math.floor(Math.log10(step3)+1e-9))),number=run.unit===
"bytes"?formatBytes:formatCount,text=k=>unit?`${k===0?0:(k*step3).toFixed(digits2)} ${unit}`:number(k*step3),first=origins.
length>1?1:0;return origins.flatMap((origin,i)=>{let room=CLEAR_PX/widthPx*(to-from),end=i+1<origins.length?Math.
min(to,origins[i+1]-room):to,ticks=[],least=Math.ceil((from-origin)/factor/step3-1e-9);for(let k=Math.max(first,
least);origin+k*step3*factor<=end;k++)ticks.push({x:(origin+k*step3*factor-from)/(to-from)*widthPx,text:text(k)});
return ticks})}function unitOf2({weight_s,whole},width){if(whole)return["%",whole/100];if(weight_s===null)return[
"",1];let[unit,seconds]=UNITS.findLast(([,each])=>width*weight_s<MOST*each)??UNITS[0];return[unit,seconds/weight_s]}
function roundStep(least){let power=10**Math.floor(Math.log10(least));return power*(STEPS.find(step3=>step3*power>=
least*.999)??10)}var cache=new WeakMap;function matchTexts(search,count,textOf3){let{test}=testOf(search);if(!test)return null;
let deadline=performance.now()+2e3,matches=new Uint8Array(count);for(let index=0;index<count&&(matches[index]=
test(textOf3(index))?1:0,!(performance.now()>deadline));index++);return matches}var patternIn=search=>/^\s*\/(.+)\/\s*$/s.
exec(search)?.[1]??null;function testOf(search){let pattern=patternIn(search);if(pattern!==null)return testOfPattern(
pattern);let words2=search.toLowerCase().split(/\s+/).filter(Boolean);return words2.length===0?{}:{test:text=>hasAll(
text.toLowerCase(),words2)}}function testOfPattern(pattern){try{let expression=new RegExp(pattern,"im");return{
test:text=>expression.test(text)}}catch(error){return{error:error.message.replace(/^Invalid regular expression: (\/.*\/\w*: )?/s,
"")}}}var hasAll=(text,words2)=>words2.every(word=>text.includes(word));function outermostMatches(tree2,matches){
let nodes=[];for(let node=1;node<tree2.fn.length;){let hit=matches[tree2.fn[node]]===1&&tree2.total[node]>0;hit&&
nodes.push(node),node=hit?tree2.end[node]:node+1}return nodes}function deepestMatches(tree2,rows,matches){if(!matches)
return null;let known=cache.get(rows);if(known?.matches===matches)return known.found;let found3=new Uint16Array(
tree2.fn.length);for(let node=1;node<found3.length;node++)found3[node]=matches[tree2.fn[node]]?rows.row[node]:
found3[tree2.parent[node]];return cache.set(rows,{matches,found:found3}),found3}var MIN_CHAIN=3,MIN_PASSED=.99;function rowsOf(tree2,{isFolded,isTopMerged}){let head2=Uint32Array.from(tree2.
fn.keys()),chains=findChains(tree2,isFolded,head2),[only=0]=isTopMerged?childrenOf(tree2,0):[];head2[0]=only;let rows={
row:new Uint16Array(head2.length),head:head2,chains,top:only,deepest:0,callees:new Map};for(let node=1;node<head2.
length;node++){if(node===only)continue;let above=head2[tree2.parent[node]];rows.row[node]=head2[node]===node?rows.
row[above]+1:rows.row[head2[node]],tree2.total[node]>0&&(rows.deepest=Math.max(rows.deepest,rows.row[node]))}return rows}
function findChains(tree2,isFolded,head2){let chains=new Map;for(let node=1;node<head2.length;node++){if(head2[node]!==
node||tree2.total[node]===0||!isFolded(tree2.fn[node]))continue;let chain=chainFrom(tree2,node,isFolded);if(!(chain.
length<MIN_CHAIN)){for(let each of chain)head2[each]=node;chains.set(node,chain)}}return chains}function chainFrom(tree2,first,isFolded){
let chain=[first],least=MIN_PASSED*tree2.total[first];for(let next3=calleeWith(tree2,first,least);next3>0&&isFolded(
tree2.fn[next3]);)chain.push(next3),next3=calleeWith(tree2,next3,least);return chain}function calleeWith(tree2,node,least){
if(tree2.total[node]-tree2.self[node]<least)return 0;for(let child2=node+1;child2<tree2.end[node];child2=tree2.
end[child2])if(tree2.total[child2]>=least)return child2;return 0}var nodesOfBox=({head:head2,chains},node)=>chains.
get(head2[node])??[head2[node]];function calleesOfBox(tree2,rows,node){let first=rows.head[node],chain=rows.chains.
get(first);if(!chain)return childrenOf(tree2,first);let found3=rows.callees.get(first)??chain.flatMap(each=>childrenOf(
tree2,each)).filter(callee=>rows.head[callee]!==first).sort((a,b)=>tree2.total[b]-tree2.total[a]||a-b);return rows.
callees.set(first,found3),found3}var boxAbove=(tree2,{head:head2},node)=>head2[tree2.parent[head2[node]]];var MIN_PX=.5,ROWS=65536;function chronological(all){let{tree:tree2,rows,weights}=all,run=spot=>runAt(all,sampleOf(
spot),rowOf(spot));return{tree:tree2,rows,total:all.total,height:all.lanes.reduce((sum,lane)=>sum+lane.rows,0),
top:0,row:spot=>laneAt(all,sampleOf(spot)).top+rowOf(spot),lane:row=>all.lanes.findLast(({top})=>top<=row)??all.
lanes[0],thread:spot=>laneAt(all,sampleOf(spot)).thread,node:spot=>nodeAt(all,sampleOf(spot),rowOf(spot)),spotOf:node=>spotOf(
all,node),extent:spot=>extentOf(all,run(spot),rowOf(spot)),parent:spot=>spotIn(all,sampleOf(spot),Math.max(0,rowOf(
spot)-1)),child:spot=>child(all,run(spot),spot),sibling:(spot,step3)=>sibling(all,run(spot),spot,step3),weight:spot=>{
let[a,b]=run(spot);return weights[b]-weights[a]},marks:()=>all.marks.length>1?all.marks:[],origins:()=>all.marks.
length>0?all.marks.map(({at:at2})=>at2):[0],layout:(window,widthPx,seen,batch2,matches)=>{let matched=deepestMatches(
tree2,rows,matches);layout(all,{window,widthPx,rows:seen,batch:batch2,matched})}}}var sampleOf=spot=>Math.floor(
spot/ROWS),rowOf=spot=>spot%ROWS;function laneAt({lanes},sample){let[low,high]=[0,lanes.length-1];for(;low<high;){
let middle=low+high+1>>1;lanes[middle].first<=sample?low=middle:high=middle-1}return lanes[low]}function nodeAt({
tree:tree2,rows,leaf},sample,row){let node=rows.head[leaf[sample]];for(;rows.row[node]>row;)node=boxAbove(tree2,
rows,node);return node}function runAt(all,sample,row){if(row>0)return[all.below.previous(sample,row),all.below.
next(sample,row)];let{first,end}=laneAt(all,sample);return[first,end]}function extentOf(all,[start2,end],row){
return row===0?[0,all.total]:[all.from[start2],all.until[end-1]]}var spotIn=(all,sample,row)=>runAt(all,sample,
row)[0]*ROWS+row;function spotOf(all,node){for(let i=0;node>0&&i<all.count;i++){let leaf=all.leaf[i];if(leaf>=
node&&leaf<all.tree.end[node])return i*ROWS+all.rows.row[all.rows.head[node]]}return 0}function child(all,[from,
to],spot){let row=rowOf(spot)+1;for(let i=from;i<to;i=all.below.next(i,row))if(all.depth[i]>=row)return i*ROWS+
row;return spot}function sibling(all,[from,to],spot,step3){let row=rowOf(spot),lane=laneAt(all,sampleOf(spot)),
[first,end]=row===0?[0,all.count]:[lane.first,lane.end],i=step3>0?to:from-1;for(;i>=first&&i<end;){if(all.depth[i]>=
row)return spotIn(all,i,row);i+=step3}return spot}function layout(all,wanted2){let{window,widthPx,rows:[first,
last]}=wanted2,scale=widthPx/(window[1]-window[0]);for(let lane of all.lanes){if(lane.top>last||lane.top+lane.
rows<=first)continue;let rows=[first-lane.top,last-lane.top],pending=[[lane.first,lane.end,0]];layoutLane(all,
{...wanted2,rows,scale,least:MIN_PX/scale,lane,pending})}}function layoutLane(all,sheet){let{rows,batch:batch2,
lane,pending}=sheet;for(let next3=pending.pop();next3;next3=pending.pop()){let[start2,end,row]=next3;if(row>=rows[0]){
let[x,width]=place(sheet,extentOf(all,[start2,end],row));batch2.add(x,width,lane.top+row,nodeAt(all,start2,row),
start2*ROWS+row)}row<rows[1]&&divide(all,sheet,start2,end,row+1)}}var place=({window,scale},[from,until])=>[(from-
window[0])*scale,(until-from)*scale];function divide(all,sheet,start2,end,row){let{window:[left,right],least,lane,
pending}=sheet,[first,following]=runAt(all,sampleAt(all,lane,left),row),i=Math.max(start2,all.until[following-
1]>left?first:following),narrow=-1;for(;i<end&&all.from[i]<right;){let next3=Math.min(all.below.next(i,row),end),
isWide=all.until[next3-1]-all.from[i]>=least,isOther=isWide||all.depth[i]!==all.depth[narrow]||all.from[i]-all.
until[i-1]>=least;narrow>=0&&isOther&&(outline(all,sheet,narrow,i,row),narrow=-1),isWide?(all.depth[i]>=row&&pending.
push([i,next3,row]),i=next3):(narrow<0&&(narrow=i),i=Math.min(end,Math.max(next3,all.below.previous(sampleAt(all,
lane,all.from[i]+least),row))))}narrow>=0&&outline(all,sheet,narrow,i,row)}function outline(all,sheet,start2,end,row){
let[from,until]=[all.from[start2],all.until[end-1]];if(until-from<sheet.least)return;let[first,last]=sheet.rows,
[x,width]=place(sheet,[from,until]),[node,spot]=[nodeAt(all,start2,row-1),start2*ROWS+row-1],deepest=Math.min(
all.depth[start2],last),part=sheet.matched?matchedPart(all,sheet.matched,start2,end,row):0;for(let at2=Math.max(
row,first);at2<=deepest;at2++)sheet.batch.addMany(x,width,sheet.lane.top+at2,node,spot,part)}function matchedPart(all,matched,start2,end,row){
let found3=0,{weights,leaf}=all;for(let i=start2;i<end;i++)matched[leaf[i]]>=row&&(found3+=weights[i+1]-weights[i]);
return found3/(weights[end]-weights[start2])}function sampleAt(all,lane,position){let[low,high]=[lane.first,lane.
end-1];for(;low<high;){let middle=low+high+1>>1;all.from[middle]<=position?low=middle:high=middle-1}return low}var MIN_PX2=.5;function leftHeavy(tree2,rows){let shown={tree:tree2,rows};return{tree:tree2,rows,total:tree2.total[0],
height:rows.deepest+1,top:rows.top,row:spot=>rows.row[spot],lane:()=>({top:0,rows:rows.deepest+1}),thread:()=>null,
node:spot=>spot,spotOf:node=>rows.head[node],extent:spot=>extentOf2(shown,spot),parent:spot=>boxAbove(tree2,rows,
spot),child:spot=>calleesOfBox(tree2,rows,spot)[0]??spot,sibling:(spot,step3)=>siblingOf(shown,spot,step3),weight:spot=>tree2.
total[spot],marks:()=>[],origins:([from])=>[from],layout:(window,widthPx,seen,batch2,matches)=>{let scale=widthPx/
(window[1]-window[0]);layout2(shown,{window,scale,rows:seen,matched:deepestMatches(tree2,rows,matches),batch:batch2})}}}
function extentOf2({tree:tree2,rows},node){let from=0;for(let at2=rows.head[node];at2!==rows.top;at2=boxAbove(
tree2,rows,at2))for(let child2 of calleesOfBox(tree2,rows,tree2.parent[at2])){if(child2===at2)break;from+=tree2.
total[child2]}return[from,from+tree2.total[node]]}function siblingOf({tree:tree2,rows},node,step3){if(node===rows.
top)return node;let all=calleesOfBox(tree2,rows,tree2.parent[node]);return all[all.indexOf(node)+step3]??node}
function layout2(shown,sheet){let{tree:tree2,rows:{row,top}}=shown,{window:[from,to],scale,rows:[first,last],batch:batch2}=sheet,
least=MIN_PX2/scale,nodes=[top],starts=[0];for(;nodes.length>0;){let node=nodes.pop(),start2=starts.pop(),total=tree2.
total[node];if(row[node]>=first&&batch2.add((start2-from)*scale,total*scale,row[node],node,node),row[node]>=last||
tree2.end[node]===node+1)continue;let until=start2+total-ownOf(shown,node),x=start2;for(let child2 of quickCalleesOf(
shown,node)){let width=tree2.total[child2];if(width<least){addRest(shown,sheet,{node,child:child2,x,until});break}
if(x>=to)break;x+width>from&&(nodes.push(child2),starts.push(x)),x+=width}}}function addRest(shown,{window:[from,
to],scale,rows:[first],matched,batch:batch2},rest){let{node,child:child2,x,until}=rest,below=shown.rows.row[node]+
1,[a,b]=[Math.max(x,from),Math.min(until,to)];if((b-a)*scale<MIN_PX2||below<first)return;let part=matched?matchedPart2(
shown,node,child2,matched):0;batch2.addMany((a-from)*scale,(b-a)*scale,below,node,node,part)}function matchedPart2(shown,node,first,matched){
let{tree:tree2,rows:{row}}=shown,all=quickCalleesOf(shown,node),[found3,whole]=[0,0];for(let child2 of all.slice(
all.indexOf(first))){whole+=tree2.total[child2];for(let at2=child2;at2<tree2.end[child2];at2++)matched[at2]>=row[child2]&&
(found3+=tree2.self[at2])}return found3/whole}function ownOf({tree:tree2,rows},node){return rows.chains.has(node)?
nodesOfBox(rows,node).reduce((sum,each)=>sum+tree2.self[each],0):tree2.self[node]}var single=[0];function quickCalleesOf({
tree:tree2,rows},node){let child2=node+1;return tree2.end[child2]!==tree2.end[node]||rows.chains.has(node)?calleesOfBox(
tree2,rows,node):(single[0]=child2,single)}function rangeMinimum(column2){let levels=[column2],below=column2;for(let half=1;half*2<=column2.length;half*=
2){let level=new Uint16Array(column2.length-half*2+1);for(let i=0;i<level.length;i++)level[i]=Math.min(below[i],
below[i+half]);levels.push(level),below=level}return(from,to)=>{let power=31-Math.clz32(to-from);return Math.min(
levels[power][from],levels[power][to-2**power])}}function nearestSmaller(column2){let levels=[column2];for(let top=column2;top.
length>64;levels.push(top))top=minimaOf(top);return{next:(i,limit)=>next(levels,i+1,limit),previous:(i,limit)=>previous(
levels,i,limit)}}function minimaOf(column2){let minima=new Uint16Array(Math.ceil(column2.length/64)).fill(65535);
for(let i=0;i<column2.length;i++){let block=Math.floor(i/64);column2[i]<minima[block]&&(minima[block]=column2[i])}
return minima}function next(levels,from,limit){let[at2,level]=[from,0];for(;at2<levels[level].length;)if(levels[level][at2]<
limit){if(level===0)return at2;at2*=64,level--}else for(at2++;at2%64===0&&level+1<levels.length;)at2/=64,level++;
return levels[0].length}function previous(levels,from,limit){let[at2,level]=[from,0];for(;at2>=0;)if(levels[level][at2]<
limit){if(level===0)return at2;at2=Math.min(at2*64+64-1,levels[level-1].length-1),level--}else for(at2--;(at2+
1)%64===0&&at2>=0&&level+1<levels.length;)at2=(at2+1)/64-1,level++;return 0}var hasLanes=(tree2,order2)=>order2.at.length>0&&tree2.thread==="all"&&keptSamples(tree2,order2).starts.length>
1;function sequenceOf(tree2,rows,order2,stacks){let{kept,starts}=keptSamples(tree2,order2),weights=weightsOf(tree2,
order2,kept),isTimed2=hasLanes(tree2,order2),from=isTimed2?Float64Array.from(kept,sample=>order2.at[sample]):weights,
until=Float64Array.from(kept,(_,i)=>from[i]+weights[i+1]-weights[i]),leaf=Uint32Array.from(kept,sample=>tree2.
leaf[order2.stack[sample]]),depth=Uint16Array.from(leaf,node=>rows.row[node]),common=sharedRows(depth,i=>order2.
stack[kept[i]],sharedByStack(tree2,rows,stacks));for(let{first}of starts)common[first]=0;if(isTimed2)for(let i=1;i<
kept.length;i++)from[i]>until[i-1]&&(common[i]=0);return{tree:tree2,rows,from,until,depth,leaf,weights,count:kept.
length,below:nearestSmaller(common),total:isTimed2?until.reduce((a,b)=>Math.max(a,b),0):weights[kept.length],lanes:lanesOf(
isTimed2?starts:[],depth),marks:isTimed2?[]:starts.map(({thread,first})=>({thread,at:from[first]}))}}function keptSamples({
thread,activity},order2){let last=order2.start.length-1,[first,end]=thread==="all"?[0,last]:[thread,thread+1],
kept=new Uint32Array(last>0?order2.start[end]-order2.start[first]:0),starts=[],count=0;for(let at2=first;at2<Math.
min(end,last);at2++)for(let sample=order2.start[at2];sample<order2.start[at2+1];sample++)activity!=="all"&&activeWeight(
order2,sample,activity)===0||(starts.at(-1)?.thread!==at2&&starts.push({thread:at2,first:count}),kept[count++]=
sample);return{kept:kept.subarray(0,count),starts}}function weightsOf({activity},order2,kept){let weights=new Float64Array(
kept.length+1);for(let i=0;i<kept.length;i++)weights[i+1]=weights[i]+activeWeight(order2,kept[i],activity);return weights}
function sharedByStack(tree2,{row,head:head2},{length,shared}){let found3=new Uint16Array(length.length),first=1;
for(let stack2=0;stack2<found3.length;stack2++){let added=length[stack2]-shared[stack2],node=added>0?tree2.parent[first]:
tree2.leaf[stack2];found3[stack2]=row[head2[node]],first+=added}return found3}function sharedRows(depth,stackOf,shared){
let common=new Uint16Array(depth.length),minimum=rangeMinimum(shared);for(let i=1;i<depth.length;i++){let[before,
stack2]=[stackOf(i-1),stackOf(i)],[low,high]=before<stack2?[before,stack2]:[stack2,before];common[i]=low===high?
depth[i]:minimum(low+1,high+1)}return common}function lanesOf(starts,depth){let all=starts.length>0?starts:[{thread:null,
first:0}],top=0;return all.map(({thread,first},i)=>{let end=all[i+1]?.first??depth.length,rows=1+depth.subarray(
first,end).reduce((a,b)=>Math.max(a,b),0);return top+=rows,{thread,first,end,top:top-rows,rows}})}var views=new WeakMap,FOLDED_KINDS=new Set(allNative?["library"]:["library","native"]),canFold=!isDifference&&
head.packages.some(({kind})=>FOLDED_KINDS.has(kind));function currentView(){let tree2=currentTree(),known=cached(
views,tree2,()=>new Map);return cached(known,`${state.view} ${state.chains}`,()=>viewOf(tree2,state))}function viewOf(tree2,{
view:view3,chains}){let isFolded=canFold&&chains==="folded"?isLibrary:()=>!1,isTopMerged=repeatsRoot(tree2);if(view3!==
"chronological")return leftHeavy(tree2,rowsOf(tree2,{isFolded,isTopMerged}));let read2=name=>column(`r${tree2.
run}.${name}`),order2={stack:read2("order.stack"),weight:read2("order.weight"),waiting:read2("order.waiting"),
start:read2("order.start"),at:read2("order.at")},rows=rowsOf(tree2,{isFolded,isTopMerged:isTopMerged&&!hasLanes(
tree2,order2)});return chronological(sequenceOf(tree2,rows,order2,{length:read2("length"),shared:read2("shared")}))}
var isLibrary=fn=>FOLDED_KINDS.has(head.packages[head.functions.package[fn]].kind);function repeatsRoot(tree2){
let[only,...others]=childrenOf(tree2,0);return only===void 0||others.length>0||tree2.self[0]>0?!1:head.functions.
name[tree2.fn[only]]===rootName(tree2)}function boxName(view3,spot){let{tree:tree2,rows}=view3,thread=view3.thread(
spot);if(thread!==null&&view3.node(spot)===0)return`${head.runs[tree2.run].threads[thread].name} · ${formatShare(
view3.weight(spot)/tree2.total[0])}`;let nodes=nodesOfBox(rows,view3.node(spot)),[first,last]=[nodes[0],nodes[nodes.
length-1]].map(node=>nodeName(tree2,node));if(nodes.length===1)return first;let packages=[...new Set(nodes.map(
node=>packageOf(tree2.fn[node])))],where=packages.length>2?`${packages.length} packages`:packages.join(", ");return`${first}\
 … ${last} (${nodes.length} in ${where})`}var MOVE_MS=180,SLOW_MS=30,calm=matchMedia("(prefers-reduced-motion: reduce)"),RULER_PX=24,ROW_PX=matchMedia("\
(pointer: coarse)").matches?26:20,MAX_CANVAS_PX=16e3,MAX_PRINTED_PX=8e3,PRINTED_RATIO=3,MARGIN_ROWS=2,Motion=class{window=[
0,1];path=null;to(target,smoothly,drawMs){let still=target.every((edge,i)=>edge===this.window[i])||!smoothly||
calm.matches||drawMs>SLOW_MS;this.path=still?null:{from:this.window,to:target,start:null},still&&(this.window=
target)}advance(now){if(!this.path)return!1;let{from,to}=this.path,start2=this.path.start??now;this.path.start=
start2;let part=Math.min(1,(now-start2)/MOVE_MS),eased=1-(1-part)**3;return this.window=[from[0]+(to[0]-from[0])*
eased,from[1]+(to[1]-from[1])*eased],part===1&&([this.window,this.path]=[to,null]),part<1}},LABEL="Flame graph\
. Arrow keys move between frames, Enter zooms in, Escape zooms out, the question mark lists all shortcuts.",canvas=make(
"canvas",{class:"graph-canvas",tabindex:"0",role:"application","aria-roledescription":"flame graph","aria-labe\
l":LABEL}),space=make("div",{class:"graph-space"},canvas),scroller=make("div",{class:"graph-scroller"},space),
nothing=make("p",{class:"graph-nothing",hidden:!0},"No samples"),batch=new FrameBatch,motion=new Motion,size={
width:0,height:0},view,requested=!1,graph={canvas,scroller,rulerPx:RULER_PX,spot:0,redrawMs:0,matches:null,view:()=>view,
window:()=>motion.window,at:frameAt,frames:()=>Array.from({length:batch.count},(_,i)=>frame(i)),redraw:request,
reveal};function showView(){view=currentView(),graph.spot=view.spotOf(state.cursor),nothing.hidden=view.total>
0,motion.to(wanted(),!1,0),resize()}function wanted(){let{range,focus:focus2}=state;return range?[range[0]*view.
total,range[1]*view.total]:state.view==="chronological"?[0,view.total]:view.weight(focus2)>0?view.extent(focus2):
[0,view.total]}var partsOf=whole=>head.kind==="comparison"?{whole}:{};function move(smoothly){motion.to(wanted(),
smoothly,graph.redrawMs),request()}function request(){requested||(requested=!0,requestAnimationFrame(now=>{requested=
!1;let moving=motion.advance(now);draw2(),moving&&request()}))}var isPrinted=()=>scroller.classList.contains("\
printed"),rowCount=()=>view.height,isFlame=()=>state.direction==="flame",rowTop=row=>RULER_PX-scroller.scrollTop+
flipped(row)*ROW_PX;function flipped(row){if(!isFlame())return row;let{top,rows}=view.lane(row);return 2*top+rows-
1-row}function rowsInSight(){let first=Math.floor(scroller.scrollTop/ROW_PX),last=Math.min(rowCount()-1,Math.ceil(
(scroller.scrollTop+size.height-RULER_PX)/ROW_PX));if(!isFlame())return[first,last];let[upper,lower]=[view.lane(
first),view.lane(last)];return upper.top===lower.top?[flipped(last),flipped(first)]:[upper.top,lower.top+lower.
rows-1]}function draw2(){let context=canvas.getContext("2d",{alpha:!1});if(!view||!context||size.width===0)return;
let start2=performance.now();batch.clear(),view.total>0&&view.layout(motion.window,size.width,rowsInSight(),batch,
graph.matches),paintGraph(context,scene()),graph.redrawMs=performance.now()-start2}function scene(){let{window}=motion;
return{batch,size,palette:paletteOf(isDark()),view,ratio:canvas.width/size.width,top:rowTop,height:ROW_PX,ruler:RULER_PX,
nameOf:spot=>boxName(view,spot),...scaleOf({...currentRun(),...partsOf(view.total)},view,window,size.width),part:view.
total>0?[window[0]/view.total,window[1]/view.total]:[0,1],matches:graph.matches,selected:state.selected,cursor:document.
activeElement===canvas?graph.spot:-1,focusDepth:state.view==="left-heavy"?view.rows.row[state.focus]:0}}function frameAt(x,y){
if(!view||y<RULER_PX)return null;let row=Math.floor((y-RULER_PX+scroller.scrollTop)/ROW_PX),i=batch.find(x,flipped(
row));return i<0?null:frame(i)}function frame(i){let depth=batch.depth[i];return{index:i,node:batch.node[i],spot:batch.
spot[i],small:batch.small[i]>0,depth,x:batch.x[i],width:batch.width[i],y:rowTop(depth),height:ROW_PX}}function reveal(spot){
let y=rowTop(view.row(spot)),margin=MARGIN_ROWS*ROW_PX;y<RULER_PX?scroller.scrollTop+=y-RULER_PX-margin:y+ROW_PX>
size.height&&(scroller.scrollTop+=y+ROW_PX-size.height+margin)}function resize(){if(!view)return;let height=Math.
min(rowCount()*ROW_PX+RULER_PX,isPrinted()?MAX_PRINTED_PX:1/0);space.style.height=`${height}px`,scroller.style.
setProperty("--content-height",`${height}px`),fit(scroller.clientWidth,Math.min(height,scroller.clientHeight))}
function fit(width,height){let ratio=isPrinted()?Math.min(PRINTED_RATIO,MAX_CANVAS_PX/height):devicePixelRatio||
1;Object.assign(size,{width,height}),[canvas.width,canvas.height]=[Math.round(width*ratio),Math.round(height*ratio)],
[canvas.style.width,canvas.style.height]=[`${width}px`,`${height}px`],draw2()}function turn(){resize();let isOneFlame=isFlame()&&
view.lane(0).rows===rowCount();scroller.scrollTop=isOneFlame?scroller.scrollHeight:0}function buildGraph(element){
element.append(scroller,nothing),showView();let update2=()=>{update2=resize,turn()};new ResizeObserver(()=>update2()).
observe(scroller),scroller.addEventListener("scroll",request);for(let name of["focus","blur"])canvas.addEventListener(
name,request);onTheme(printing2=>{scroller.classList.toggle("printed",printing2),resize()}),followState()}function followState(){
onChange(["run","thread","activity","view","chains"],showView),onChange(["direction"],turn),onChange(["focus",
"range"],(_,__,origin)=>move(origin!=="drag")),onChange(["cursor"],(_,__,origin)=>{origin!=="graph"&&(graph.spot=
view.spotOf(state.cursor))}),onChange(["selected","search","cursor"],request)}var MAX_LISTED=12,tip=make("div",{class:"tip","aria-hidden":"true",hidden:!0}),rim=make("div",{class:"rim","ar\
ia-hidden":"true",hidden:!0}),line=make("p",{class:"off-screen","aria-live":"polite"});function tipElements(){
return graph.scroller.addEventListener("scroll",hideTip),[tip,rim,line]}function hideTip(){tip.hidden=rim.hidden=
!0}function showTip(event,frame2){if(graph.canvas.style.cursor=frame2?"pointer":"default",!frame2||event.pointerType===
"touch"){hideTip();return}tip.replaceChildren(...frame2.small?wordsOfSmall():words(frame2)),tip.hidden=rim.hidden=
!1,surround(frame2),placeTip(event)}function placeTip(event){let box=tip.getBoundingClientRect(),left=Math.min(
event.clientX+14,innerWidth-box.width-8),below=event.clientY+18+box.height<innerHeight;tip.style.left=`${Math.
max(8,left)}px`,tip.style.top=`${below?event.clientY+18:event.clientY-box.height-12}px`}function surround(frame2){
let box=graph.canvas.getBoundingClientRect(),top=Math.max(frame2.y,graph.rulerPx),[left,right]=[Math.max(0,frame2.
x),Math.min(box.width,frame2.x+frame2.width)],bottom=Math.min(box.height,frame2.y+frame2.height),width=Math.max(
1,right-left),place3={left:box.left+left,top:box.top+top,width,height:bottom-top};for(let[name,px]of Object.entries(
place3))rim.style.setProperty(name,`${px}px`)}function readAloud(spot){let view3=graph.view(),{tree:tree2,rows}=view3,
node=view3.node(spot),calls=calleesOfBox(tree2,rows,node).length,whole=tree2.total[0]||1;line.textContent=[boxName(
view3,spot),`${formatShare(tree2.total[node]/whole)} of the total`,`${formatShare(tree2.self[node]/whole)} sel\
f`,`level ${tree2.depth[node]}`,calls===0?"calls nothing":`calls ${calls}`].join(", ")}function words({node,spot}){
let view3=graph.view(),thread=view3.thread(spot),rows=node===0&&thread!==null?[]:costsOf2(view3.tree,node);return rows.
push(...stretchOf(spot)),node>0&&thread!==null&&rows.push(["Thread",currentRun().threads[thread].name]),node>0&&
rows.push(...more(view3.tree,node)),[make("strong",{},boxName(view3,spot)),make("span",{class:"tip-place"},node===
0?"":originOf(view3.tree.fn[node])),chainOf(view3,node),make("dl",{},rows.flatMap(([name,text])=>[make("dt",{},
name),make("dd",{},text)]))]}function chainOf({tree:tree2,rows},node){let items=nodesOfBox(rows,node).map(each=>make(
"li",{},nodeName(tree2,each),make("small",{},packageOf(tree2.fn[each]))));if(items.length===1)return"";let left=items.
length-MAX_LISTED;return left>0&&items.splice(MAX_LISTED/2,left,make("li",{},`… ${left} more …`)),make("ol",
{class:"tip-chain"},items)}function wordsOfSmall(){let hint2=make("span",{class:"tip-place"},"Click to zoom in");
return[make("strong",{},"Frames too narrow to draw"),hint2]}var amount=weight=>{let whole=graph.view().tree.total[0];
return`${formatWeight(currentRun(),weight)} · ${formatShare(weight/whole)}`},costsOf2=(tree2,node)=>[["Total",
amount(tree2.total[node])],["Self",amount(tree2.self[node])]],stretchOf=spot=>state.view==="chronological"?[["\
This frame",amount(graph.view().weight(spot))]]:[];function more(tree2,node){let run=currentRun(),rows=[["Shar\
e of caller",formatShare(tree2.total[node]/tree2.total[tree2.parent[node]])]];return isTimed(run)&&rows.push([
"Weight",`${formatCount(tree2.total[node])} ${run.unit}`]),[...rows,...differenceRows(tree2.fn[node])]}var originOf=fn=>[
placeOf(fn),packageOf(fn)].filter(Boolean).join("  ·  ");var ZOOM_STEP=1.6,PAN_STEP=.25,NARROWEST=1e-9;function goTo(spot,changes2={}){let view3=graph.view(),node=view3.
node(spot),selected=node===0?state.selected:view3.tree.fn[node];graph.spot=spot,setState({cursor:node,selected,
...changes2},"graph"),graph.reveal(spot),graph.redraw(),readAloud(spot)}function zoomTo(spot,changes2={}){let view3=graph.
view(),range=state.view==="chronological"&&view3.node(spot)>0?parts(view3.extent(spot)):null;goTo(spot,{focus:view3.
node(spot),range,...changes2})}var zoomOut=()=>setState({focus:0,range:null},"graph");function showWindow([from,
to],origin){let{total}=graph.view(),width=Math.min(Math.max(to-from,total*NARROWEST),total),start2=Math.min(Math.
max(0,from),total-width),whole=width>=total*(1-1e-9);setState(whole?{focus:0,range:null}:{range:parts([start2,
start2+width])},origin)}function zoomBy(factor,place3=.5,origin="graph"){let[from,to]=graph.window(),width=(to-
from)*factor,fixed=from+(to-from)*place3;showWindow([fixed-width*place3,fixed+width*(1-place3)],origin)}function panBy(part,origin="\
graph"){let[from,to]=graph.window();showWindow([from+(to-from)*part,to+(to-from)*part],origin)}var parts=([from,
to])=>[from/graph.view().total,to/graph.view().total],step=choice2=>()=>{let next3=choice2(graph.view(),graph.
spot);goTo(next3);let[from,to]=graph.view().extent(next3),[left,right]=graph.window(),around=(right-left-(to-from))/
2;(to<=left||from>=right)&&showWindow([from-around,to+around],"graph")},down=step((view3,spot)=>view3.child(spot)),
up=step((view3,spot)=>view3.parent(spot)),isFlame2=()=>state.direction==="flame",isLeft=event=>event.key==="Ar\
rowLeft";function sideways(event){event.shiftKey?panBy(isLeft(event)?-PAN_STEP:PAN_STEP):step((view3,spot)=>view3.
sibling(spot,isLeft(event)?-1:1))()}var downward=()=>(isFlame2()?up:down)(),upward=()=>(isFlame2()?down:up)(),
navigationKeys=[{names:["ArrowDown"],shown:["↓"],what:"Go to the heaviest callee",action:downward,ofGraph:!0},
{names:["ArrowUp"],shown:["↑"],what:"Go to the caller (reversed in a flame graph)",action:upward,ofGraph:!0},
{names:["ArrowLeft","ArrowRight"],shown:["←","→"],what:"Go to the neighbour; with Shift: pan",action:sideways,
ofGraph:!0},{names:["Enter"," "],shown:["Enter"],what:"Zoom to the current frame",action:()=>zoomTo(graph.spot),
ofGraph:!0},{names:["Escape"],shown:["Esc"],what:"Reset the zoom",action:()=>zoomOut()},{names:["Home"],shown:[
"Home"],what:"Go to the root",action:step(view3=>view3.top),ofGraph:!0},{names:["+","="],shown:["+"],what:"Zoo\
m in",action:()=>zoomBy(1/ZOOM_STEP),ofGraph:!0},{names:["-"],shown:["−"],what:"Zoom out",action:()=>zoomBy(
ZOOM_STEP),ofGraph:!0}];var{canvas:canvas2,scroller:scroller2}=graph,STILL_PX=5,WHEEL_ZOOM=.0035,pressed=new Map,press=null;function listenToPointers(){
canvas2.addEventListener("pointerdown",onDown),canvas2.addEventListener("pointermove",onMove),canvas2.addEventListener(
"pointerup",onRelease),canvas2.addEventListener("pointercancel",onRelease),canvas2.addEventListener("pointerle\
ave",hideTip),canvas2.addEventListener("click",onClick),canvas2.addEventListener("dblclick",zoomOut),canvas2.addEventListener(
"wheel",onWheel,{passive:!1})}function onDown(event){event.button===0&&(pressed.set(event.pointerId,placeOf2(event)),
press=begin(placeOf2(event),pressed.size>1,pinchOf()))}function onMove(event){let place3=placeOf2(event);if(!press||
!pressed.has(event.pointerId)){showTip(event,graph.at(place3.x,place3.y));return}pressed.set(event.pointerId,place3),
!(!press.moved&&Math.hypot(place3.x-press.x,place3.y-press.y)<STILL_PX)&&(press.moved||canvas2.setPointerCapture(
event.pointerId),press.moved=!0,hideTip(),press.pinch?pinch(press,press.pinch):drag(press,event,place3))}function onRelease(event){
pressed.delete(event.pointerId);for(let place3 of pressed.values())press=begin(place3,!0,null)}function onClick(event){
if(press?.moved||event.detail>1)return;let{x,y}=placeOf2(event),frame2=graph.at(x,y);frame2&&(frame2.small?showWindow(
weightsOf2(frame2),"graph"):zoomTo(frame2.spot))}function onWheel(event){let width=canvas2.clientWidth,[across,
along]=event.shiftKey?[event.deltaY||event.deltaX,0]:[event.deltaX,event.deltaY];if(event.ctrlKey||event.metaKey)
zoomBy(Math.exp(event.deltaY*WHEEL_ZOOM),placeOf2(event).x/width,"drag");else if(Math.abs(across)>Math.abs(along))
panBy(across/width,"drag");else return;event.preventDefault()}function placeOf2(event){let box=canvas2.getBoundingClientRect();
return{x:event.clientX-box.left,y:event.clientY-box.top}}var begin=(place3,moved,fingers)=>({...place3,top:scroller2.
scrollTop,window:graph.window(),moved,pinch:fingers});function drag(from,event,place3){let[left,right]=from.window,
shift=(from.x-place3.x)/canvas2.clientWidth*(right-left);showWindow([left+shift,right+shift],"drag"),event.pointerType===
"mouse"&&(scroller2.scrollTop=from.top+from.y-place3.y)}function pinchOf(){if(pressed.size!==2)return null;let[
a,b]=[...pressed.values()].map(({x})=>x);return{middle:(a+b)/2,apart:Math.max(10,Math.abs(a-b))}}function pinch(from,before){
let now=pinchOf();if(!now)return;let[left,right]=from.window,width=(right-left)*(before.apart/now.apart),start2=left+
(right-left)*(before.middle/canvas2.clientWidth)-width*(now.middle/canvas2.clientWidth);showWindow([start2,start2+
width],"drag")}function weightsOf2({x,width}){let[from,to]=graph.window(),scale=(to-from)/canvas2.clientWidth;
return[from+Math.max(0,x)*scale,from+(x+width)*scale]}var MIN_SEEN=.02,found=[],at=-1;function matchingFunctions(search){let{name}=head.functions;return matchTexts(
search,name.length,fn=>`${name[fn]}
${placeOf(fn)}
${packageOf(fn)}`)}var input=make("input",{type:"search",class:"search-input",placeholder:"Search functions, f\
iles, packages",title:"Words, or a regular expression between slashes: /pattern/","aria-label":"Search",spellcheck:"\
false",autocomplete:"off",input:()=>setState({search:input.value}),keydown:onKey}),patternButton=make("button",
{type:"button",class:"icon-button pattern-button",title:"Search by regular expression: /pattern/","aria-label":"\
Regular expression",click:togglePattern},".*"),share=make("output",{class:"search-share","aria-live":"polite"}),
previous2=stepButton("‹","Previous match","p",-1),next2=stepButton("›","Next match","n",1);function searchElement(){
return follow(["search","run","thread","activity"],update),make("div",{class:"search",role:"search"},input,patternButton,
share,previous2,next2)}function stepButton(text,name,key,by){return make("button",{type:"button",class:"icon-b\
utton",title:`${name} (${key})`,"aria-label":name,click:()=>step2(by)},text)}function togglePattern(){let pattern=patternIn(
state.search),search=pattern??`/${state.search.trim()}/`;setState({search}),input.value=search,input.focus();let end=pattern===
null?search.length-1:search.length;input.setSelectionRange(end,end)}function update(){let{search}=state,{error}=testOf(
search);if(input.value!==search&&(input.value=search),input.setAttribute("aria-invalid",String(error!==void 0)),
patternButton.setAttribute("aria-pressed",String(patternIn(search)!==null)),graph.matches=matchingFunctions(search),
at=-1,found=[],graph.matches){let tree2=currentTree();found=outermostMatches(tree2,graph.matches).sort((a,b)=>tree2.
total[b]-tree2.total[a]);let part=found.reduce((sum,node)=>sum+tree2.total[node],0)/(tree2.total[0]||1),places2=`${formatCount(
found.length)} ${found.length===1?"place":"places"}`;share.textContent=found.length>0?`${formatShare(part)} in\
 ${places2}`:"no match"}else share.textContent=error===void 0?"":`Invalid pattern: ${error}`;previous2.disabled=
next2.disabled=found.length===0,graph.redraw()}function step2(by){if(found.length===0)return;at=at<0?by>0?0:found.
length-1:(at+by+found.length)%found.length;let view3=graph.view(),spot=view3.spotOf(found[at]),[from,to]=view3.
extent(spot),[left,right]=graph.window(),seen=(Math.min(to,right)-Math.max(from,left))/(right-left),{tree:tree2}=view3,
match={cursor:found[at],selected:tree2.fn[found[at]]};seen<MIN_SEEN?zoomTo(spot,match):goTo(spot,match);let part=tree2.
total[found[at]]/tree2.total[0];share.textContent=`${at+1} of ${formatCount(found.length)}: ${formatShare(part)}`}
function onKey(event){if(event.key==="Enter")step2(event.shiftKey?-1:1);else if(event.key==="Escape")setState(
{search:""}),graph.canvas.focus();else return;event.preventDefault()}var searchKeys=[{names:["/"],shown:["/"],
what:"Search",action:()=>input.focus()},{names:["n"],shown:["n"],what:"Next match",action:()=>step2(1)},{names:[
"p","N"],shown:["p"],what:"Previous match",action:()=>step2(-1)}];var VIEWS=[["left-heavy","Left heavy","Equal stacks merged, heaviest first"],["chronological","Chronological",
"In order of time"]],DIRECTIONS=[["icicle","Icicle","Callers above"],["flame","Flame","Callers below"]],FOLD="\
Draw calls that only lead from one function of a library to the next as one box (l)";function buildToolbar(element){
let views2=head.runs.some(run=>run.ordered)?[choice("view","View",VIEWS,value=>value!=="chronological"||currentRun().
ordered)]:[],direction=choice("direction","Direction",DIRECTIONS,()=>!0);element.append(searchElement(),...views2,
direction,...canFold?[foldButton()]:[])}var toggleChains=()=>setState({chains:state.chains==="folded"?"unfolde\
d":"folded"});function foldButton(){let button2=make("button",{type:"button",title:FOLD,click:toggleChains},"F\
old libraries");return follow(["chains"],()=>button2.setAttribute("aria-pressed",String(state.chains==="folded"))),
make("div",{class:"segmented"},button2)}function choice(name,label,values,allowed){let buttons=values.map(([value,
text,title])=>make("button",{type:"button",title,click:()=>setState({[name]:value})},text));return follow([name,
"run"],()=>buttons.forEach((button2,i)=>{button2.setAttribute("aria-pressed",String(state[name]===values[i][0])),
button2.disabled=!allowed(values[i][0]),button2.title=button2.disabled?"This run has no order of samples":values[i][2]})),
make("div",{class:"segmented",role:"group","aria-label":label},buttons)}function breadcrumbs(){let list=make("\
ol"),nav=make("nav",{class:"breadcrumbs","aria-label":"Callers of the zoomed frame"},list);return follow(["foc\
us","range","run","thread","activity"],()=>{let{focus:focus2,range}=state,tree2=currentTree(),path=[0,...pathTo(
tree2,focus2)];nav.classList.toggle("idle",focus2===0&&range===null),list.replaceChildren(...path.map((node,i)=>make(
"li",{},crumb(tree2,node,i===path.length-1)))),nav.scrollLeft=nav.scrollWidth}),nav}function crumb(tree2,node,last){
return make("button",{type:"button","aria-current":last?"location":null,click:()=>node===0?zoomOut():zoomTo(ancestorSpot(
node))},node===0?"Everything":nodeName(tree2,node))}function ancestorSpot(node){let view3=graph.view(),shown=view3.
rows.head[node],spot=graph.spot;for(;view3.node(spot)!==shown&&view3.parent(spot)!==spot;)spot=view3.parent(spot);
return view3.node(spot)===shown?spot:view3.spotOf(node)}var viewKeys=[{names:["v"],shown:["v"],what:"Switch be\
tween left heavy and chronological",action:()=>{let view3=state.view==="left-heavy"?"chronological":"left-heav\
y";currentRun().ordered&&setState({view:view3})}},{names:["f"],shown:["f"],what:"Switch between icicle and fla\
me",action:()=>setState({direction:state.direction==="icicle"?"flame":"icicle"})},{names:["l"],shown:["l"],what:"\
Fold or unfold straight runs of library calls",action:toggleChains}];var ELSEWHERE=[{shown:["↑","↓"],what:"In a table or a call tree: previous or next row; also Home, End"},{shown:[
"←","→"],what:"In a call tree: collapse or expand; in tabs and plots: move"}],shortcuts=[],keysButton=()=>make(
"button",{type:"button",class:"icon-button",title:"Keyboard shortcuts (?)",click:showKeys},make("span",{"aria-\
hidden":"true"},"?"),make("span",{class:"off-screen"},"Keyboard shortcuts"));function listenToKeys(element,wanted2){
shortcuts.push(...wanted2,{names:["?"],shown:["?"],what:"Show this dialog",action:showKeys}),element.addEventListener(
"keydown",event=>handle(event,!0)),addEventListener("keydown",event=>{!event.defaultPrevented&&!isTyping(event.
target)&&handle(event,!1)})}function handle(event,ofGraph){if(event.altKey||event.metaKey||event.ctrlKey||document.
querySelector("dialog[open]"))return;let shortcut=shortcuts.find(each=>!!each.ofGraph===ofGraph&&each.names.includes(
event.key));shortcut&&(event.preventDefault(),shortcut.action(event))}var isTyping=target=>target instanceof Element&&
target.matches("input, select, textarea"),entryOf=({shown,what})=>[make("dt",{},shown.map(key=>make("kbd",{},key))),
make("dd",{},what)];function showKeys(){let close=make("button",{type:"button",class:"icon-button dialog-close",
title:"Close (Escape)",click:()=>dialog.close()},make("span",{"aria-hidden":"true"},"×"),make("span",{class:"\
off-screen"},"Close")),dialog=make("dialog",{class:"keys","aria-labelledby":"keys-title"},make("h2",{id:"keys-\
title"},"Keyboard shortcuts"),close,make("dl",{},[...shortcuts,...ELSEWHERE].flatMap(entryOf)),make("p",{class:"\
faint"},"Click to zoom in, double-click to reset the zoom, drag to pan. ","Ctrl and the wheel, or a pinch, zoo\
m at the pointer. ","A search has words, or a regular expression between slashes: /pattern/."));dialog.addEventListener(
"click",event=>event.target===dialog&&dialog.close()),dialog.addEventListener("close",()=>dialog.remove()),document.
body.append(dialog),dialog.showModal()}var PLACES={selectors:"selectors",sentences:"lead",document:"lead",order:"lead",comparison:"lead",notes:"lead",
strip:"strip",details:"side"},REGIONS=["function","coroutine","generator","async generator","block"],SUMMARY=[
...REGIONS.map(name=>({name,most:1})),{name:"imported",most:2},{name:"tool",most:1},{name:"started",most:1},{name:"\
runs",most:2},{name:"calls",most:2,noun:"call"},{name:"active",most:2},{name:"total",most:2},{name:"samples",most:2,
noun:"sample"},{name:"sampler",most:1}],places={selectors:make("div",{class:"selectors"}),lead:make("div",{class:"\
lead"}),toolbar:make("div",{class:"toolbar",role:"toolbar","aria-label":"Graph"}),strip:make("div",{class:"str\
ip"}),graph:make("section",{class:"graph","aria-label":"Flame graph"}),side:make("aside",{class:"side","aria-l\
abel":"Selected function"}),workspace:make("div",{class:"workspace"}),tabs:make("section",{class:"tabs"})};function buildLayout(page,panels){
hasGraph()&&fillWorkspace();let middle=hasGraph()?places.workspace:places.strip;page.replaceChildren(header(),
places.lead,middle,places.tabs,footer());let shown=panels.filter(panel=>panel.applies());for(let panel of shown.
filter(each=>each.id in PLACES))place2(panel,places[PLACES[panel.id]]);buildTabs(shown.filter(panel=>!(panel.id in
PLACES)))}function header(){return make("header",{class:"top"},make("div",{class:"title"},make("h1",{},head.title.
replace(/ – profkit$/,"")),summaryLine()),places.selectors,make("div",{class:"page-tools"},themeButton(),hasGraph()?
keysButton():null))}function summaryLine(){let line2=make("p",{class:"summary"});head.identity&&line2.append(make(
"span",{},head.identity));let show=()=>line2.replaceChildren(...summaryOf(currentRun()).map(text=>make("span",
{},text)));return head.blocks||follow(["run"],show),line2}function summaryOf(run){let facts=new Map(run?.facts??
[]);return SUMMARY.flatMap(({name,most,noun})=>{let parts2=facts.get(name)?.slice(0,most).map(([text])=>text);
if(!parts2)return[];let[first,...others]=parts2;return[[counted(first,noun)??(name==="active"?`${first} active`:
first),...others].join(", ")]})}var counted=(text,noun)=>noun&&/^[\d,]+$/.test(text)?`${text} ${noun}${text===
"1"?"":"s"}`:null;function fillWorkspace(){buildToolbar(places.toolbar),places.graph.append(breadcrumbs()),buildGraph(
places.graph),places.graph.append(legend(),...tipElements()),listenToPointers(),listenToKeys(graph.canvas,[...navigationKeys,
...searchKeys,...viewKeys]);let main=make("div",{class:"workspace-main"},places.toolbar,places.strip,places.graph);
places.workspace.append(main,places.side)}function place2(panel,element){let body=make("div",{class:"panel-bod\
y"}),attributes={class:`panel panel-${panel.id}`,id:`panel-${panel.id}`,"aria-label":panel.title},section=make(
"section",attributes);["lead","side"].includes(element.className)&&section.append(make("h2",{},panel.title)),section.
append(body),element.append(section),panel.build(body)}var footer=()=>make("footer",{class:"foot"},`profkit ${head.
profkit}`);function buildTabs(panels){if(panels.length===0)return;let tabs=panels.map(tabOf),list=make("div",{
class:"tab-list",role:"tablist","aria-label":"Tables",keydown:event=>walk(event,tabs)},tabs.map(each=>each.button));
places.tabs.append(list,...tabs.map(each=>each.body)),follow(["tab"],()=>openTab(tabs,tabs.find(each=>each.panel.
id===state.tab)??tabs[0])),onTheme(printing2=>printing2&&tabs.forEach(build))}function tabOf(panel){let button2=make(
"button",{type:"button",role:"tab",id:`tab-${panel.id}`,"aria-controls":`panel-${panel.id}`,click:()=>setState(
{tab:panel.id})},panel.title),content2=make("div",{class:"panel-body"}),body=make("div",{class:`panel panel-${panel.
id}`,role:"tabpanel",id:`panel-${panel.id}`,"aria-labelledby":`tab-${panel.id}`},make("h2",{class:"print-only"},
panel.title),content2);return{panel,button:button2,body,content:content2,built:!1}}function openTab(tabs,open){
for(let each of tabs){let selected=each===open;each.button.setAttribute("aria-selected",String(selected)),each.
button.tabIndex=selected?0:-1,each.body.hidden=!selected}build(open)}function build(tab){tab.built||(tab.built=
!0,tab.panel.build(tab.content))}function walk(event,tabs){let step3=event.key==="ArrowRight"?1:event.key==="A\
rrowLeft"?-1:0;if(!step3)return;event.preventDefault();let at2=tabs.findIndex(each=>each.button===document.activeElement),
next3=tabs[(at2+step3+tabs.length)%tabs.length];setState({tab:next3.panel.id}),next3.button.focus()}var linearScale=([low,high],[from,to])=>value=>high>low?from+(value-low)/(high-low)*(to-from):(from+to)/2;function roundTicks(low,high,wanted2=5){
if(!(high>low))return[low];let rough=(high-low)/Math.max(1,wanted2),power=10**Math.floor(Math.log10(rough)),step3=[
1,2,5,10].map(factor=>factor*power).find(size2=>size2>=rough*.999)??10*power,first=Math.ceil(low/step3-1e-9),last=Math.
floor(high/step3+1e-9);return Array.from({length:Math.max(0,last-first)+1},(_,i)=>(first+i)*step3)}function paddedExtent(values,room=.05){
let[low,high]=[1/0,-1/0];for(let value of values)value===null||!Number.isFinite(value)||(low=Math.min(low,value),
high=Math.max(high,value));let pad=(high-low||Math.abs(high)||1)*room;return low>high?[0,1]:[low-pad,high+pad]}
function plotFigure({title,described,caption=null,least=260},paint5){let holder=make("div",{class:"plot"});return onWidth(
holder,least,width=>{let svg=draw("svg",{role:"img",width:"100%","aria-label":title});svg.append(draw("title",
{},title),draw("desc",{},described));let height=paint5(svg,width);svg.setAttribute("viewBox",`0 0 ${width} ${height}`),
holder.replaceChildren(svg)}),make("figure",{class:"plot-figure"},caption&&make("figcaption",{},caption),holder)}
function onWidth(element,least,repaint){let last=0;new ResizeObserver(([entry])=>{let width=Math.max(least,Math.
floor(entry.contentRect.width));entry.contentRect.width===0||width===last||(last=width,repaint(width))}).observe(
element)}var plotLabel=(x,y,text,attributes={})=>draw("text",{x,y,"text-anchor":"middle",class:"plot-label",...attributes},
text),stroke=(x1,y1,x2,y2,kind)=>draw("line",{x1,y1,x2,y2,class:kind});function axisBelow(svg,at2,values,texts,[
top,y]){let free=-1/0,width=Math.max(...texts.map(text=>text.length))*6.5;values.forEach((value,i)=>{let x=at2(
value);svg.append(stroke(x,top,x,y,"plot-grid")),!(x-width/2<free)&&(svg.append(plotLabel(x,y+16,texts[i])),free=
x+width/2+8)})}function axisLeft(svg,at2,values,texts,[left,right]){values.forEach((value,i)=>{let y=at2(value);
svg.append(stroke(left,y,right,y,"plot-grid")),svg.append(plotLabel(left-6,y+4,texts[i],{"text-anchor":"end"}))})}
function whisker(svg,{at:at2,low,high,middle,y,size:size2=5,kind=""}){if(low!==null&&high!==null){svg.append(stroke(
at2(low),y,at2(high),y,`whisker ${kind}`));for(let x of[at2(low),at2(high)])svg.append(stroke(x,y-size2,x,y+size2,
`whisker ${kind}`))}svg.append(draw("circle",{cx:at2(middle),cy:y,r:size2-.5,class:`point ${kind}`}))}var numbersTable=(summary,head2,rows)=>make(
"details",{class:"numbers"},make("summary",{},summary),make("div",{class:"scroll",tabindex:"0",role:"region","\
aria-label":summary},make("table",{class:"figures"},make("thead",{},make("tr",{},head2.map(text=>make("th",{scope:"\
col"},text)))),make("tbody",{},rows.map(([first,...cells])=>make("tr",{},make("th",{scope:"row"},first),cells.
map(cell2=>make("td",{class:"number"},cell2))))))));function explorer(explored,figure2){let{label,count,rest,summary,
describe,nearest:nearest2,onMove:onMove2,onEnter}=explored,last=count-1,current2=null,readout=make("output",{class:"\
strip-readout"},summary),move2=i=>{current2=i,readout.textContent=i===null?summary:describe(i),slider.setAttribute(
"aria-valuenow",String(Math.min(last,i??rest)+1)),slider.setAttribute("aria-valuetext",readout.textContent),onMove2(
i)},enter=()=>current2!==null&&onEnter?.(current2),slider=make("div",{class:"strip-slider",role:"slider",tabindex:"\
0","aria-label":label,"aria-valuemin":1,"aria-valuemax":count,"aria-valuenow":Math.min(last,rest)+1,"aria-valu\
etext":summary,click:enter,pointerleave:()=>move2(null),pointermove:({clientX,clientY})=>{let svg=figure2.querySelector(
"svg");if(!svg)return;let{left,top,width}=svg.getBoundingClientRect(),scale=svg.viewBox.baseVal.width/width;move2(
nearest2((clientX-left)*scale,(clientY-top)*scale))},keydown:event=>{event.key==="Enter"&&enter();let to=pointAfter(
current2??rest,last,event.key);to!==null&&(event.preventDefault(),event.stopPropagation(),move2(Math.min(last,
Math.max(0,to))))}},figure2);return{slider,readout,move:move2}}function pointAfter(from,last,key){let wide=Math.
max(1,Math.round(last/10)),places2={ArrowRight:from+1,ArrowUp:from+1,ArrowLeft:from-1,ArrowDown:from-1,PageUp:from+
wide,PageDown:from-wide,Home:0,End:last};return Object.hasOwn(places2,key)?places2[key]:null}var HISTOGRAM=64,TOP=22,BELOW=28,RIGHT=44,HEADS=["process","interpreter","blocks","min","median","max"],HEADS_OF_PROGRAM=[
"executions","min","median","max"],REACH=8;function timesFigure({sides:sides2,is_program:program}){let timings=sides2.
map(side2=>timingOf(side2,program)),range=usualRange(timings);return make("div",{},timings.map(timing=>[timings.
length>1?make("h4",{},timing.name):null,sideFigure(timing,range)]).flat())}var timingOf=([name,processes,zygotes,
median_s,low_s,high_s],program)=>({name,processes,zygotes,median_s,low_s,high_s,program});function sideFigure(timing,range){
let rows=rowsOf2(timing),named={title:`Times of ${timing.name}`,described:wordsOf(timing,rows)};return make("d\
iv",{class:"distribution"},plotFigure(named,(svg,width)=>paint2(svg,width,{rows,timing,range})),keyOf(timing),
timing.program?numbersTable("Times as a table",HEADS_OF_PROGRAM,numbers(rows).map(row=>row.slice(2))):numbersTable(
"Times of each process as a table",HEADS,numbers(rows)))}function rowsOf2({processes,zygotes}){let rows=processes.
map((times_s,process)=>({process,zygote:zygotes[process]??0,times_s}));return rows.sort((a,b)=>a.zygote-b.zygote||
a.process-b.process),rows.map((row,i)=>({...row,first:i===0||rows[i-1].zygote!==row.zygote}))}var sorted=times_s=>[
...times_s].sort((a,b)=>a-b);function medianOf(times_s){let[values,half]=[sorted(times_s),times_s.length>>1];return times_s.
length%2?values[half]:(values[half-1]+values[half])/2}var usualRange=timings=>paddedExtent(timings.flatMap(({processes,
median_s,high_s})=>{let all=sorted(processes.flat()),far=all[0]+REACH*(all[Math.floor(all.length/4)]-all[0]),least=processes.
map(times_s=>Math.min(...times_s)),usual=all.filter(time_s=>time_s<=far);return[all[0],usual[usual.length-1],median_s,
high_s??median_s,...least]}),.04);function paint2(svg,width,{rows,timing,range}){let left=width<520?40:88,each=rows.
length>30?9:15,at2=linearScale(range,[left,width-RIGHT]),top=TOP+HISTOGRAM+12,gaps=rows.filter((row,i)=>i&&row.
first).length,bottom=top+rows.length*each+gaps*6,values=roundTicks(...range,Math.max(3,Math.floor((width-left-
RIGHT)/110)));axisBelow(svg,at2,values,axisTexts("time",values),[TOP,bottom+2]),paintMedian(svg,timing,at2,bottom+
2),paintHistogram(svg,rows,range,{at:at2,counted:timing.program?"executions":"blocks"});let y=top-each/2;return rows.
forEach((row,i)=>{y+=each+(i&&row.first?6:0),row.first&&!timing.program&&svg.append(zygoteLabel(row,left,y)),paintRow(
svg,row,{y,each,at:at2,range,left,width})}),bottom+BELOW}function paintMedian(svg,{median_s,low_s,high_s},at2,bottom){
let x=at2(median_s);if(low_s!==null&&high_s!==null){let width=Math.max(1,at2(high_s)-at2(low_s));svg.append(draw(
"rect",{x:at2(low_s),y:TOP,width,height:bottom-TOP,class:"interval-band"}))}svg.append(stroke(x,TOP-4,x,bottom,
"median-line")),svg.append(plotLabel(x,TOP-9,`median ${exactTime(median_s)}`,{class:"plot-label median-label"}))}
function paintHistogram(svg,rows,[low,high],{at:at2,counted:counted2}){let all=rows.flatMap(row=>row.times_s).
filter(time=>time<=high),many=Math.min(60,Math.max(8,Math.round(2*Math.sqrt(all.length)))),bins=new Uint32Array(
many);for(let time of all)bins[Math.min(many-1,Math.floor((time-low)/(high-low)*many))]++;let most=Math.max(...bins,
1),step3=(at2(high)-at2(low))/many,base=TOP+HISTOGRAM,width=Math.max(1,step3-1);bins.forEach((count,i)=>{let height=count/
most*HISTOGRAM,x=at2(low)+i*step3+.5;count&&svg.append(draw("rect",{x,y:base-height,width,height,class:"histog\
ram-bar"}))}),svg.append(stroke(at2(low),base,at2(high),base,"plot-base")),svg.append(plotLabel(at2(low)-6,TOP+
10,String(most),{"text-anchor":"end"})),svg.append(plotLabel(at2(low)-6,base,counted2,{"text-anchor":"end",class:"\
plot-label plot-name"}))}function zygoteLabel({zygote},left,y){let text=left<60?`#${zygote}`:`interpreter ${zygote}`;
return plotLabel(left-8,y+4,text,{"text-anchor":"end"})}function paintRow(svg,row,{y,each,at:at2,range,left,width}){
svg.append(stroke(left,y,width-RIGHT,y,"plot-row"));let inside=row.times_s.filter(time=>time<=range[1]),height=i=>y+
(i*.618%1-.5)*each*.5,dots=inside.map((time,i)=>`M${at2(time).toFixed(1)},${height(i).toFixed(1)}h0`),least=Math.
min(...row.times_s);svg.append(draw("path",{d:dots.join(""),class:"block-dots"})),svg.append(draw("circle",{cx:at2(
least),cy:y,r:Math.min(4,each/2.5),class:"least-dot"}));let beyond=row.times_s.length-inside.length;beyond&&svg.
append(plotLabel(width-RIGHT+6,y+4,`+${beyond} →`,{"text-anchor":"start"}))}function keyOf({low_s,program}){
let sign=kind=>make("span",{class:`key-sign ${kind}`,"aria-hidden":"true"}),entry=(kind,text)=>make("li",{},sign(
kind),text);return make("ul",{class:"plot-key"},entry("sign-least",program?"fastest execution":"fastest block \
of a process"),entry("sign-block",program?"the others":"its other blocks"),entry("sign-median",[program?"media\
n":"median of the fastest blocks",low_s===null?"":", with its 95 % interval"].join("")),make("li",{},`+n → num\
ber of slower ${program?"executions":"blocks"} beyond the axis`))}function wordsOf({median_s,low_s,high_s,processes,
program},rows){let min_s=Math.min(...processes.map(times_s=>Math.min(...times_s))),[median,low,high,min]=timesAlike(
[median_s,low_s,high_s,min_s]),sure=low?`, 95 % between ${low} and ${high}`:"";return`${program?`${rows[0].times_s.
length} executions`:`${rows.length} processes`}; median ${median}${sure}, min ${min}.`}function numbers(rows){
let figures=rows.map(({times_s})=>[Math.min(...times_s),medianOf(times_s),Math.max(...times_s)]),texts=timesAlike(
figures.flat());return rows.map(({process,zygote,times_s},i)=>[process+1,zygote,times_s.length,...texts.slice(
3*i,3*i+3)].map(String))}var factList=facts=>make("dl",{class:"facts"},facts.map(([name,parts2],i)=>[make("dt",{},i&&facts[i-1][0]===name?
"":name),make("dd",{},parts2.flatMap(([text,tone],k)=>[k?" · ":"",make("span",{class:`tone-${tone}`},withLink(
text))]))]).flat());function withLink(text){let address=(currentRun()?.facts??[]).filter(([name])=>name==="lin\
k").map(([,parts2])=>parts2.at(-1)?.[0]??"").find(link=>/^https?:\/\//.test(link)&&text.endsWith(link));if(!address)
return[text];let attributes={href:address,target:"_blank",rel:"noopener noreferrer"};return[text.slice(0,-address.
length),make("a",attributes,address)]}var STEP=50,SortableTable=class{element;#spec;#body=make("tbody");#more=button("",()=>this.#grow(),{class:"mor\
e"});#count=make("span",{class:"count",role:"status"});#foot=make("div",{class:"grid-foot"},this.#count,this.#more);#heads;#rows=[];#limit=0;#sorted;#rising;#marked=null;constructor(spec){
let{caption,columns:columns3,sort,pick}=spec;this.#spec=spec,this.#sorted=columns3.find(({id})=>id===sort),this.#rising=
this.#sorted?.rising??!1,this.#heads=columns3.map(column2=>headOf(column2,()=>this.#sortBy(column2)));let head2=columns3.
some(({title})=>title)?make("thead",{},make("tr",{},this.#heads)):null,table=make("table",{class:"figures"},caption&&
make("caption",{},caption),head2,this.#body);this.element=make("div",{class:"grid"},make("div",{class:"scroll"},
table),this.#foot),pick&&listenToRows(this.#body)}show(rows){this.#rows=[...rows],this.#limit=this.#spec.step??
STEP,this.#arrange()}mark(marked){this.#marked=marked;let isMarked=row=>marked!==null&&row.dataset.key===String(
marked);for(let row of this.#body.rows)isMarked(row)?row.setAttribute("aria-current","true"):row.removeAttribute(
"aria-current");setTabStop(this.#body,isMarked)}#sortBy(column2){this.#rising=this.#sorted===column2?!this.#rising:
column2.rising??!1,this.#sorted=column2,this.#arrange()}#arrange(){let{id,value}=this.#sorted??{};value&&this.#rows.
sort((a,b)=>order(value(a),value(b),this.#rising));let direction=this.#rising?"ascending":"descending";for(let head2 of this.#heads)
head2.dataset.column===id?head2.setAttribute("aria-sort",direction):head2.removeAttribute("aria-sort");this.#build(
0)}#grow(){let from=this.#limit;this.#limit*=2,this.#build(from)}#build(from){let[all,limit]=[this.#rows.length,
this.#limit],rows=this.#rows.slice(from,limit).map(row=>this.#rowOf(row));from?this.#body.append(...rows):this.#body.
replaceChildren(...rows);let left=all-limit;this.#more.hidden=left<=0,this.#foot.hidden=left<=0&&all>0,this.#more.
textContent=`${Math.min(left,limit)} more`;let shown=`${exactCount(limit)} of ${exactCount(all)}`;this.#count.
textContent=left>0?shown:all?"":"No rows.",this.mark(this.#marked)}#rowOf(row){let{key,columns:columns3,pick,enter}=this.#spec,
element=make("tr",{"data-key":String(key?key(row):row),pointerenter:enter&&(()=>enter(row)),pointerleave:enter&&
(()=>enter(null))});return columns3.forEach((column2,i)=>{let content2=column2.cell(row);column2.wide&&content2.
classList.add("wide-only"),element.append(i?content2:rowHead(content2))}),pick&&onPick(element,()=>pick(row)),
element}},rowHead=cell2=>cell2.tagName==="TH"?cell2:make("th",{scope:"row",class:cell2.className},[...cell2.childNodes]);
function headOf(column2,onClick2){let kind=[column2.number??(column2.value&&!column2.rising)?"number":"",column2.
wide?"wide-only":""].filter(Boolean).join(" ")||null,content2=column2.value?button(column2.title,onClick2,{class:"\
sort",title:column2.hint??null}):column2.title;return column2.title?make("th",{scope:"col",class:kind,"data-co\
lumn":column2.id},content2):make("td",{"data-column":column2.id})}function order(a,b,rising){if(a===null||b===
null)return+(a===null)-+(b===null);let less=typeof a=="string"?a.localeCompare(String(b)):a-Number(b);return rising?
less:-less}var picks=new WeakMap;function onPick(row,action){picks.set(row,action)}function listenToRows(body){
body.addEventListener("click",event=>{let row=rowAt(event);row&&!isTextSelected(row)&&picks.get(row)?.()}),body.
addEventListener("keydown",event=>{let row=rowAt(event),target=row&&buttonAfter(body,row,event.key),from=row?.
querySelector("button");!target||!from||(event.preventDefault(),from.tabIndex=-1,target.tabIndex=0,target.focus())})}
function setTabStop(body,isMarked){let stop=null,found3=!1;for(let row of body.rows){let first=row.querySelector(
"button");first&&(first.tabIndex=-1,!(stop&&(found3||!isMarked(row)))&&(found3=isMarked(row),stop=first))}stop&&
(stop.tabIndex=0)}var rowAt=({target})=>target instanceof Element?target.closest("tr"):null;function buttonAfter(body,row,key){
let buttons=[...body.children].map(each=>each.querySelector("button")).filter(each=>each!==null),at2=buttons.findIndex(
each=>row.contains(each)),places2={ArrowDown:at2+1,ArrowUp:at2-1,Home:0,End:buttons.length-1};return Object.hasOwn(
places2,key)?buttons[places2[key]]:void 0}function isTextSelected(row){let selection=getSelection();return selection!==
null&&!selection.isCollapsed&&selection.containsNode(row,!0)}var UNSORTED=new Set(["drawing","curve","call","bounds","prose"]),[WIDTH,HEIGHT]=[140,18],[HEAT_MAP,DENSE]=[4,
12],KINDS2={bad:"more",good:"less",faint:"noise"};function tableElement({columns:columns3,orders:orders2},trend){
let count=columns3[0]?.texts.length??0,isTree=columns3.some(({role})=>role==="call"),isOpening=orders2.length>
0&&orders2.length===count&&state.order<count,shades=columns3.flatMap(({heats})=>heats?[Math.max(...heats.map(heat=>heat??
0))]:[]),most=shades.length<HEAT_MAP?0:Math.max(...shades),keyOf3=row=>trend?count-1-row:isOpening?orders2[row]:
row,grid=new SortableTable({columns:inOrder(columns3,isTree).map((each,i)=>columnOf(each,i,isTree,isOpening,most)),
key:keyOf3,pick:isOpening?row=>setState({order:orders2[row]}):void 0,enter:trend?row=>trend.choose(row===null?
null:keyOf3(row)):void 0});return grid.show(Array(count).keys()),most>0&&grid.element.classList.add("shaded",...shades.
length>DENSE?["dense"]:[]),isOpening&&follow(["order"],()=>grid.mark(state.order)),trend&&(trend.onChoose=point=>grid.
mark(point)),grid.element}function inOrder(columns3,isTree){let first=columns3.find(column2=>column2.names_rows)??
columns3.find(({role})=>role==="name")??columns3.find(({role})=>role==="words");return!first||isTree?columns3:
[first,...columns3.filter(column2=>column2!==first)]}function columnOf(column2,place3,isTree,isOpening,most){let{
head:head2,role,texts,heats}=column2,numbers2=texts.map((text,row)=>heats?.[row]??numberIn(text)),isNumeric=role===
"figure"&&numbers2.some(each=>each!==null),key=row=>isNumeric?numbers2[row]:texts[row]||null,isSorted=head2&&!isTree&&
!UNSORTED.has(role);return{id:head2||`column-${place3}`,title:head2,rising:!isNumeric,number:role==="figure",value:isSorted?
key:void 0,cell:row=>most>0&&heats?shadedCell(column2,row,most):cellOf(column2,row,place3===0&&isOpening)}}function cellOf(column2,row,isLink){
let{role,texts,mores,marks,tones,depths,bounds}=column2,tone=tones[row]??tones[0];if(role==="bounds")return cell(
drawnBounds(bounds?.[row]??null,tone),{class:"whisker-cell"});let text=isLink?button(texts[row],()=>{},{class:"\
link"}):texts[row],more2=mores?.[row]&&make("span",{class:"addition"},mores[row]),content2=[marks?.[row]&&`${marks[row]}\
 `,text,more2&&" ",more2],kind=`${role}-cell tone-${tone}`,heat=column2.heats?.[row]??null;if(heat!==null)return heatCell(
heat,content2,tone,column2.heats??[]);if(role==="name")return make("th",{scope:"row",class:`name plain ${kind}`},
content2);let style=depths?{"padding-left":`${.5+depths[row]}rem`}:{};return cell(content2,{class:role==="figu\
re"?`number ${kind}`:kind,style})}function shadedCell({head:head2,texts,heats},row,most){let[title,style]=[`${head2}\
: ${texts[row]||"0 %"}`,{"--heat":(heats?.[row]??0)/most}];return cell(texts[row],{class:"number shade",title,
style})}function heatCell(heat,content2,tone,all){let bar2=barCell(Math.abs(heat),content2);return bar2.classList.
add(`tone-${tone}`),all.some(each=>(each??0)<0)&&bar2.classList.add(heat>0?"more":"less"),bar2}function drawnBounds(places2,tone){
if(!places2)return null;let[size2,y]=[{width:WIDTH,height:HEIGHT},HEIGHT/2],svg=draw("svg",{viewBox:`0 0 ${WIDTH}\
 ${HEIGHT}`,...size2,"aria-hidden":"true"}),[middle,low,high,zero]=places2,at2=part=>part*WIDTH;return svg.append(
zero===null?stroke(2,y,WIDTH-2,y,"plot-grid"):stroke(at2(zero),0,at2(zero),HEIGHT,"plot-zero")),whisker(svg,{at:at2,
low,high,middle,y,size:4,kind:KINDS2[tone]??""}),svg}var LEFT=84,RIGHT2=24,TOP2=16,HEIGHT2=240,BELOW2=62,WIDEST=150,NARROW=16,LEVEL=76;function trendPlot({title,summary,
points:written,is_time}){let points=written.map(pointOf),sure=points.some(({low})=>isNumber(low))?"; bars are \
95 % intervals":"",drawn={step:1,marks:[]},figure2=plotFigure({title,described:summary,caption:`By commit, the\
 newest on the right${sure}. The axis does not start at zero.`},(svg,width)=>(drawn=paint3(points,is_time,svg,
width),TOP2+HEIGHT2+BELOW2)),{slider,readout,move:move2}=explorer({label:`Commit: ${title}`,count:points.length,
rest:points.length,summary,describe:i=>points[i].words,nearest:x=>Math.min(points.length-1,Math.max(0,Math.floor(
(x-LEFT)/drawn.step))),onMove:i=>{drawn.marks.forEach((mark,k)=>mark.classList.toggle("chosen",k===i)),plot.onChoose(
i)}},figure2),plot={element:make("div",{},slider,readout,keyOf2(points)),choose:move2,onChoose:()=>{}};return plot}
var pointOf=([name,value,low,high,words2,warned])=>({name,value,low,high,words:words2,warned});function paint3(points,isTime,svg,width){
let ends=points.flatMap(({value,low,high})=>[value,low??value,high??value]),range=paddedExtent(ends,.08),bottom=TOP2+
HEIGHT2,up2=linearScale(range,[bottom,TOP2]),step3=Math.min(WIDEST,(width-LEFT-RIGHT2)/points.length),at2=i=>LEFT+
(i+.5)*step3,values=roundTicks(...range,5),texts=axisTexts(isTime?"time":"count",values);axisLeft(svg,up2,values,
texts,[LEFT,width-RIGHT2]);let line2=points.map(({value},i)=>`${at2(i).toFixed(1)},${up2(value).toFixed(1)}`).
join(" ");svg.append(draw("polyline",{points:line2,class:"trend-line"}));let marks=points.map((point,i)=>svg.appendChild(
markOf(point,at2(i),up2,step3<NARROW?3.2:5)));return paintCommits(svg,points,at2,step3,bottom),{step:step3,marks}}
function markOf({value,low,high,warned},x,up2,size2){let mark=draw("g",{class:`trend-point ${warned?"warned":"\
sure"}`}),y=up2(value);if(isNumber(low)&&isNumber(high)){mark.append(stroke(x,up2(low),x,up2(high),"whisker"));
for(let end of[up2(low),up2(high)])mark.append(stroke(x-size2+.5,end,x+size2-.5,end,"whisker"))}let triangle=`\
M${x},${y-size2*1.3}l${size2*1.3},${size2*2.3}h${-size2*2.6}z`;return mark.append(warned?draw("path",{d:triangle,
class:"point"}):draw("circle",{cx:x,cy:y,r:size2,class:"point"})),mark}function paintCommits(svg,points,at2,step3,bottom){
let every=Math.max(1,Math.ceil(18/step3));points.forEach(({name},i)=>{if((points.length-1-i)%every)return;let[
x,y]=[at2(i),bottom+16],aslant={"text-anchor":"end",transform:`rotate(-40 ${x+3} ${y})`},text=name.replace(/^run /,
"").slice(0,10);svg.append(step3<LEVEL?plotLabel(x+3,y,text,aslant):plotLabel(x,y,text))})}var keyOf2=points=>points.
some(({warned})=>warned)?make("ul",{class:"plot-key"},make("li",{},"▲ has warnings: see the table")):null;function documentElement(blocks2,kind="document"){let trend=null,draw3=block=>{if(block.is==="trend")return(trend=
trendPlot(block)).element;if(block.is!=="table")return elementOf(block);let table=tableElement(block,trend);return trend=
null,table};return make("div",{class:kind},blocks2.map(draw3))}var drawings={title:({mark,label,identity})=>make(
"h3",{class:"order-name"},`${mark} ${label}`.trim(),make("span",{class:"variant"},identity)),section:({title,remark})=>titled(
"h3",title,remark),sentences:({texts,tone})=>sentences(texts,tone),facts:({rows})=>factList(rows),remark:({text,
tone})=>make("p",{class:`remark tone-${tone}`},text),lines:({head:head2,lines,tone})=>{let text=lines.map(([line2,
,,more2])=>more2?`${line2}  ${more2}`:line2).join(`
`);return make("div",{class:`lines lines-${tone}`},head2&&make("strong",{class:`tone-${tone}`},head2),text?make(
"pre",{},text):null)},nested:block=>{let content2=documentElement(block.blocks,"nested");return block.folded?folded(
block.folded,content2):content2},distribution:timesFigure},elementOf=block=>drawings[block.is](block),sentences=([
first="",...others],tone)=>make("div",{class:"sentences"},make("p",{class:tone==="plain"?null:`headline-text t\
one-${tone}`},first),others.map(text=>make("p",{},text)));var{blocks=[],orders=[]}=head,TITLES={sampled:"Comparison",comparison:"Comparison",document:"Report",measured:orders.
length>1?`${orders.length} statements`:"Measurement"},documentPanel={id:"document",title:TITLES[head.kind],build(body){
body.append(documentElement(blocks)),orders.length&&follow(["order"],showGraph)},applies:()=>blocks.length>0},
orderPanel={id:"order",title:"The selected statement",build(body){follow(["order"],()=>body.replaceChildren(documentElement(
currentOrder().blocks)))},applies:()=>orders.length>1},currentOrder=()=>orders[state.order]??orders[0];function showGraph(){
let{run}=currentOrder();places.workspace.hidden=places.tabs.hidden=run===null,run!==null&&setState({run},"addr\
ess")}var tablesPanel=(id,title,missing)=>({id,title,build(body){follow(["run"],()=>{let found3=currentRun().tables?.[id];
body.replaceChildren(found3?documentElement(found3):hint(missing))})},applies:()=>head.runs.some(run=>run.tables?.[id])}),
awaitsPanel=tablesPanel("awaits","Suspended, by await","No call of this run was suspended at a known line."),operatorsPanel=tablesPanel(
"operators","Operators","torch.profiler did not record this run."),processesPanel=tablesPanel("processes","Pro\
cesses","This run has one process.");var MOST2=25,actions=new WeakMap;function treeList({label,top,...view3}){let root=make("ul",{role:"tree","aria\
-label":label,class:"branches"},elementsOf(view3,top)),first=itemIn(root);return first&&(first.tabIndex=0),root.
addEventListener("keydown",event=>onKey2(root,event)),root}function elementsOf(view3,items,from=0){let elements=items.
slice(from,from+MOST2).map(item2=>elementOf2(view3,item2));return items.length>from+MOST2&&elements.push(restOf(
view3,items,from+MOST2)),elements}function elementOf2(view3,item2){let items=view3.below(item2),twig=make("spa\
n",{class:"twig","aria-hidden":"true"}),row=make("div",{class:"branch"},twig,view3.content(item2)),expanded=items.
length?"false":null,element=make("li",{role:"treeitem",tabindex:"-1","aria-label":view3.name(item2),"aria-expa\
nded":expanded},row),toggle=(open=element.getAttribute("aria-expanded")==="false")=>{items.length&&(element.setAttribute(
"aria-expanded",String(open)),!(!open||element.children.length>1)&&element.append(make("ul",{role:"group"},elementsOf(
view3,items))))},pick=()=>view3.pick(item2);return actions.set(element,{toggle,pick}),row.addEventListener("cl\
ick",({target})=>{target instanceof Element&&target.closest(".pick")?pick():toggle()}),element}function restOf(view3,items,from){
let row=make("div",{class:"branch rest"},`${exactCount(items.length-from)} smaller`),element=make("li",{role:"\
treeitem",tabindex:"-1"},row),pick=()=>{let elements=elementsOf(view3,items,from);element.replaceWith(...elements),
focus(elements[0])};return actions.set(element,{toggle:pick,pick}),row.addEventListener("click",pick),element}
function focus(item2){let others=item2.closest("[role=tree]")?.querySelectorAll("[tabindex='0']")??[];for(let other of others)
other.setAttribute("tabindex","-1");item2.tabIndex=0,item2.focus()}function onKey2(root,event){let item2=event.
target instanceof Element?itemAround(event.target):null;if(!item2)return;let shown=[...root.querySelectorAll("\
[role=treeitem]")].filter(other=>other.offsetParent!==null),moves={ArrowDown:()=>shown[shown.indexOf(item2)+1],
ArrowUp:()=>shown[shown.indexOf(item2)-1],Home:()=>shown[0],End:()=>shown.at(-1),ArrowRight:()=>inwards(item2),
ArrowLeft:()=>outwards(item2),Enter:()=>actions.get(item2)?.pick()," ":()=>actions.get(item2)?.toggle()};if(!Object.
hasOwn(moves,event.key))return;event.preventDefault(),event.stopPropagation();let to=moves[event.key]();to&&focus(
to)}function inwards(item2){return item2.getAttribute("aria-expanded")==="true"?itemIn(item2):(item2.hasAttribute(
"aria-expanded")&&actions.get(item2)?.toggle(!0),null)}function outwards(item2){let{parentElement:around}=item2;
return item2.getAttribute("aria-expanded")!=="true"?around&&itemAround(around):(actions.get(item2)?.toggle(!1),
null)}var itemAround=element=>element.closest("[role=treeitem]"),itemIn=element=>element.querySelector("[role=\
treeitem]");var callersAndCalleesPanel={id:"sandwich",title:"Callers and callees",build(body){follow(["run","thread","acti\
vity","selected"],()=>{let{selected}=state;body.replaceChildren(...selected===null?[nothingSelected()]:sides(selected))})},
applies:hasGraph},nothingSelected=()=>hint("Select a function in the graph or the table to see its callers and\
 callees.");function sides(selected){let tree2=currentTree(),group=groupOf(tree2,selected);if(!group.weight)return[
hint("The selected function has no samples here.")];let view3={tree:tree2,whole:group.weight,name:head.functions.
name[selected]};return[make("div",{class:"sandwich"},side("Callers","functions that call it",view3,callersOf(tree2,
group),callersOf),side("Callees","functions that it calls",view3,withOwn(tree2,group),withOwn))]}function withOwn(tree2,group){
let callees=calleesOf(tree2,group),own=group.weight-callees.reduce((sum,callee)=>sum+callee.weight,0),itself={
fn:group.fn,own:!0,nodes:[],weights:[],weight:own};return own>1e-9&&(callees.length||group.fn===state.selected)?
[...callees,itself].sort((a,b)=>b.weight-a.weight):callees}function side(title,meaning,{tree:tree2,whole,name:selected},top,grow){
let id=`sandwich-${title.toLowerCase()}`;return make("section",{class:"sandwich-side","aria-labelledby":id},make(
"h3",{id},title,make("small",{},meaning)),treeList({label:`${title} of ${selected}`,top,below:group=>functionOf(
group)===null?[]:grow(tree2,group),content:group=>content(group,group.weight/whole),name:group=>[formatShare(group.
weight/whole),groupName(group),groupPlace(group)].join(" ").trim(),pick:group=>{functionOf(group)!==null&&setState(
{selected:group.fn})}}))}var functionOf=group=>group.own?null:group.fn,wordOf=group=>group.own?"self":"the bot\
tom of the stack";function groupName(group){let fn=functionOf(group);return fn===null?wordOf(group):head.functions.
name[fn]}function groupPlace(group){let fn=functionOf(group);return fn===null?"":placeOf(fn)}function content(group,share2){
let bar2=shareBar(share2,weightText(group.weight)),fn=functionOf(group);return fn===null?[bar2," ",make("span",
{class:"faint"},groupName(group))]:[bar2,swatch(fn)," ",make("span",{class:"pick"},groupName(group))," ",placeElement(
groupPlace(group))]}var ALARMS=new Set(["warn","bad"]),NOTES=new Set(["note","error"]),STATE="started";function warnings(sentences2){
let items=sentences2.map(text=>make("li",{},withLink(text)));return items.length?make("ul",{class:"warnings"},
items):null}function ofSelection(){let{summary=[],summaries}=currentRun();return summaries?summaries[state.thread]?.[state.
activity]??[]:summary}var summaryPanel={id:"sentences",title:"Summary",build(body){let show=sentences2=>{body.
replaceChildren(...sentences2.map(sentence=>make("p",{},sentence))),body.parentElement.hidden=sentences2.length===
0},names=["run","thread","activity"];onChange([...names],()=>show(ofSelection()));let isUntouched=names.every(
name=>state[name]===initialState[name]);show(isUntouched?currentRun().summary??[]:ofSelection())},applies:()=>head.
runs.some(run=>run.summaries||(run.summary??[]).length>0)},factsPanel={id:"facts",title:head.kind==="compariso\
n"?"About the runs":"About the run",build(body){follow(["run"],()=>body.replaceChildren(factList(currentRun().
facts),resourceTable()??""))},applies:()=>head.runs.some(run=>run.facts.length>0)},notesPanel={id:"notes",title:"\
Notes",build(body){follow(["run"],()=>body.replaceChildren(warnings(notesOf(currentRun()))??""))},applies:()=>head.
kind==="sampled"&&head.runs.some(run=>notesOf(run).length>0)};function notesOf(run){let alarms=parts2=>parts2.
filter(([,tone])=>ALARMS.has(tone)).map(([text])=>text),said=(run.facts??[]).filter(([name,parts2])=>name!==STATE&&
alarms(parts2).length).map(([name,parts2])=>`${NOTES.has(name)?"":`${name}: `}${alarms(parts2).join(" · ")}`),
notes=(run.notes??[]).map(String);return[...new Set([...notes,...said])].filter(Boolean)}function resourceTable(){
let resources=currentRun().resources;if(!resources)return null;let step3=Math.ceil(resources.at_s.length/200),
rows=resources.at_s.map((at2,i)=>[formatTime(at2),i?`${Math.round(resources.cpu_share[i-1]*100)} %`:"–",formatBytes(
resources.rss_bytes[i]),formatCount(resources.threads[i])]);return numbersTable("Resources over time as a tabl\
e",["time","CPU since the previous row","memory","threads"],rows.filter((_,i)=>i%step3===0))}var hotFunctionsPanel={id:"functions",title:"Hot functions",build(body){let grid=new SortableTable({caption:"F\
unctions by self and total weight; click one to select it.",columns:columns(),sort:head.initial?.sort??"self",
step:40,pick:fn=>setState({selected:state.selected===fn?null:fn})});body.append(grid.element),follow(["run","t\
hread","activity","search"],()=>{grid.show(found2()),grid.mark(state.selected)}),onChange(["selected"],()=>grid.
mark(state.selected))},applies:hasGraph},tree=currentTree,costs2=()=>costsOf(tree());function columns(){let{functions:functions2}=head,
words2={rising:!0,wide:!0},weights=(name,hint2)=>({id:name,title:name,hint:hint2,value:fn=>costs2()[name][fn],
cell:fn=>weightCell(name,fn)});return[{id:"name",title:"function",rising:!0,value:fn=>functions2.name[fn],cell:nameCell},
weights("self","the function itself"),weights("total",hasStatedTotals(tree())?"including callees, as stated by\
 the file":"including callees; recursion counts once"),{id:"package",title:"package",...words2,value:packageOf,
cell:fn=>cell(packageOf(fn))},{id:"place",title:"place",...words2,value:placeOf,cell:fn=>cell(placeElement(placeOf(
fn)))}]}function nameCell(fn){return make("th",{scope:"row",class:"name"},functionLink(fn),placeElement(placeOf(
fn),{class:"narrow-only place"}))}function weightCell(name,fn){let weight=costs2()[name][fn],whole=tree().total[0]||
1,amount2=make("span",{class:"amount wide-only"},amountText(weight)),text=weight?[amount2," ",...sureShare(weight,
whole)]:"";return barCell(weight/whole,text,weightText(weight))}function found2(){let{total}=costs2(),matches=matchingFunctions(
state.search),rows=[];return total.forEach((weight,fn)=>{weight&&(!matches||matches[fn])&&rows.push(fn)}),rows}var HEIGHT3=58,GAP=18,LEFT2=50,TOP3=20,BELOW3=20,NARROW2=640,APART=.1,WIDTH2=.1,resourcesPanel={id:"strip",title:"\
Resources over time",build(body){let strip=null;follow(["run"],()=>{let resources=currentRun()?.resources;strip=
resources&&resources.at_s.length>1?stripOf(resources):null,body.replaceChildren(...strip?elementsOf2(strip):[])}),
onChange(["run","thread","activity","view","range"],()=>{strip&&showWindow2(strip)})},applies:()=>head.runs.some(
run=>!!run.resources)};function curvesOf(resources){return[{name:"CPU",unit:"100 % is one core",values:[resources.
cpu_share[0]??0,...resources.cpu_share],text:value=>`${Math.round(value*100)} %`,kind:"cpu"},{name:"memory",unit:"\
resident",values:resources.rss_bytes,text:formatBytes,kind:"memory"},{name:"threads",unit:"",values:resources.
threads,text:formatCount,kind:"threads"}]}var stripOf=resources=>({at_s:resources.at_s,curves:curvesOf(resources),
moment:null,boxes:[],bands:draw("g"),cursors:[]});function elementsOf2(strip){let{at_s,curves}=strip,summary=rangesOf(
at_s,curves),named={title:"CPU, memory and threads over time",described:summary,least:200},{slider,readout}=explorer(
{label:"Moment of the recording",count:at_s.length,rest:0,summary,describe:moment=>valuesAt(strip,moment),nearest:(x,y)=>nearest(
strip,x,y),onMove:moment=>{strip.moment=moment,showMoment(strip)},onEnter:moment=>goTo2(at_s,moment)},plotFigure(
named,(svg,width)=>paint4(strip,svg,width)));return[slider,readout]}var rangesOf=(at_s,curves)=>[`recorded for\
 ${formatTime(at_s[at_s.length-1])}`,...curves.map(({name,values,text})=>`${name} up to ${text(Math.max(...values))}`)].
join(" · ");function paint4(strip,svg,width){let{at_s,curves}=strip,beside=width>=NARROW2,each=beside?(width-
2*GAP)/3:width,boxes=curves.map((curve,i)=>{let x=(beside?i*(each+GAP):0)+LEFT2,y=TOP3+(beside?0:i*(HEIGHT3+TOP3+
BELOW3)),[right,bottom]=[x+each-LEFT2-4,y+HEIGHT3],across=linearScale([at_s[0],at_s[at_s.length-1]],[x,right]);
return{curve,x,y,right,bottom,across,up:linearScale([0,largest(curve)],[bottom,y])}});boxes.forEach(box=>paintCurve(
at_s,svg,box));let bands=svg.appendChild(draw("g")),cursors=boxes.map(()=>svg.appendChild(draw("g",{class:"str\
ip-cursor"})));return Object.assign(strip,{boxes,bands,cursors}),showMoment(strip),showWindow2(strip),boxes[boxes.
length-1].bottom+BELOW3}var largest=({values})=>Math.max(...values)||1;function paintCurve(at_s,svg,{curve,x,y,
right,bottom,across,up:up2}){let points=at_s.map((at2,i)=>`${across(at2).toFixed(1)},${up2(curve.values[i]).toFixed(
1)}`),name=curve.unit?`${curve.name} (${curve.unit})`:curve.name,area=[`${x},${bottom}`,...points,`${right},${bottom}`].
join(" ");svg.append(plotLabel(x,y-7,name,{"text-anchor":"start",class:"plot-label plot-name"}),stroke(x,y,right,
y,"plot-grid"),stroke(x,bottom,right,bottom,"plot-base"),draw("polygon",{points:area,class:`area area-${curve.
kind}`}),draw("polyline",{points:points.join(" "),class:`curve curve-${curve.kind}`}),plotLabel(x-5,y+4,curve.
text(largest(curve)),{"text-anchor":"end"}),plotLabel(x-5,bottom+1,"0",{"text-anchor":"end"}),plotLabel(x,bottom+
14,"0 s",{"text-anchor":"start"}),plotLabel(right,bottom+14,formatTime(at_s[at_s.length-1]),{"text-anchor":"en\
d"}))}function nearest({at_s,boxes},x,y){let over=boxes.find(box=>x<=box.right+GAP/2&&y<=box.bottom+BELOW3)??boxes[boxes.
length-1],part=Math.min(1,Math.max(0,(x-over.x)/(over.right-over.x))),at2=at_s[0]+part*(at_s[at_s.length-1]-at_s[0]),
low=0;for(let high=at_s.length-1;low<high;){let middle=low+high>>1;at_s[middle]<at2?low=middle+1:high=middle}return low>
0&&at2-at_s[low-1]<at_s[low]-at2?low-1:low}var valuesAt=({at_s,curves},moment)=>[formatTime(at_s[moment]),...curves.
map(({name,values,text})=>`${name} ${text(values[moment])}`)].join(" · ");function showMoment({at_s,boxes,cursors,
moment}){cursors.forEach((cursor,i)=>{if(moment===null){cursor.replaceChildren();return}let{curve,across,up:up2,
y,bottom}=boxes[i],[cx,cy]=[across(at_s[moment]),up2(curve.values[moment])];cursor.replaceChildren(stroke(cx,y,
cx,bottom,"plot-cursor"),draw("circle",{cx,cy,r:3.5,class:`dot dot-${curve.kind}`}))})}function showWindow2({at_s,
boxes,bands}){let{range}=state;bands.replaceChildren(...(range&&sharesAxis(at_s)?boxes:[]).map(({x,y,right,bottom})=>{
let[from,to]=(range??[]).map(part=>x+part*(right-x));return draw("rect",{x:from,y,width:to-from,height:bottom-
y,class:"window-band"})}))}function sharesAxis(at_s){let run=currentRun();if(state.view!=="chronological"||!isTimed(
run)||state.thread==="all"&&run.threads.length>1)return!1;let seen_s=currentTree().total[0]*run.weight_s;return run.
weight_s>0&&Math.abs(seen_s/at_s[at_s.length-1]-1)<APART}function goTo2(at_s,moment){if(!sharesAxis(at_s))return;
let part=(at_s[moment]-at_s[0])/(at_s[at_s.length-1]-at_s[0]),from=Math.min(1-WIDTH2,Math.max(0,part-WIDTH2/2));
setState({range:[from,from+WIDTH2]},"strip")}var NOISE="noise",{functions=[]}=head.comparison??{},sampledComparisonPanel={id:"comparison",title:"Functions \
that differ",build(body){body.append(differences(functions))},applies:()=>functions.length>0};function differences(rows){
let changed=rows.filter(row=>row.change!==NOISE),ends=rows.flatMap(({low,high,a,b})=>[low??0,high??0,b-a]),most=Math.
max(...ends.map(Math.abs),.01),at2=linearScale([-most,most],[6,154]),grid=new SortableTable({caption:"Self or \
total share of each function: the difference in points, with its interval.",columns:columns2(at2),sort:"differ\
ence",key:row=>row.function,step:30,pick:({function:fn})=>setState({selected:state.selected===fn?null:fn})}),all=make(
"input",{type:"checkbox",change:()=>show()}),show=()=>{let matches=matchingFunctions(state.search);grid.show((all.
checked||matches?rows:changed).filter(row=>!matches||matches[row.function])),grid.mark(state.selected),grid.element.
hidden=!changed.length&&!all.checked&&!matches},none=changed.length?null:hint("No function differs by more tha\
n the noise.");follow(["search"],show),onChange(["selected"],()=>grid.mark(state.selected));let noise=rows.length-
changed.length,remark=`${plural(noise,"function")} within noise, in grey`,choice2=make("label",{class:"check"},
all,remark);return make("div",{class:"differences"},none,grid.element,noise?choice2:null)}function columns2(at2){
let share2=side2=>({id:side2,title:side2.toUpperCase(),hint:`share of ${side2.toUpperCase()}`,value:row=>row[side2],
cell:row=>barCell(row[side2],[make("span",{class:"share"},formatShare(row[side2]))," ",make("span",{class:"int\
erval"},`±${(row.halves[side2]*100).toFixed(1)}`)])}),wide={wide:!0,rising:!0};return[{id:"name",title:"funct\
ion",rising:!0,value:nameOf,cell:nameCell2},share2("a"),share2("b"),{id:"difference",title:"difference",hint:"\
changes first, largest first",value:weightOf,cell:row=>numberCell(formatPoints(row.b-row.a))},{id:"interval",title:"\
interval",wide:!0,cell:row=>intervalCell(row,at2)},{id:"of",title:"share",...wide,value:shareOf,cell:row=>cell(
shareOf(row),{class:"faint words"})},{id:"change",title:"change",...wide,value:({change})=>change,cell:({change})=>cell(
badge(change,`change-${change}`))}]}var nameOf=row=>head.functions.name[row.function],shareOf=row=>row.of==="s\
elf"?"self":"total",weightOf=row=>(row.change===NOISE?0:10)+Math.abs(row.b-row.a);function nameCell2(row){return make(
"th",{scope:"row",class:`name ${row.change}`},functionLink(row.function))}function intervalCell({a,b,low,high,
change},at2){let title=low===null||high===null?"no interval":`${formatPoints(low)} to ${formatPoints(high)} po\
ints`,svg=draw("svg",{viewBox:"0 0 160 18",width:160,height:18,role:"img","aria-label":title});return svg.append(
stroke(at2(0),0,at2(0),18,"plot-zero")),whisker(svg,{at:at2,low,high,middle:b-a,y:9,size:4,kind:change}),cell(
svg,{class:"whisker-cell",title})}var MIN_POINTS=5e-4,AROUND=3,MAX_LINES=200,treesOf=()=>isDifference?[treeOf(state.run,0),treeOf(state.run,1)]:
[currentTree()];function lineText(fn,number){let source=(currentRun().source??{})[fn];return source?.lines[number-
source.first]?.trim()??""}function changeOf({fn,others=[],a,b}){let change=b>a?"more":"less",agrees=[fn,...others].
some(each=>changes.get(each)?.change===change);return Math.abs(b-a)>=MIN_POINTS&&agrees?change:"noise"}function changedLines(){
let found3=new Map;return treesOf().forEach((tree2,side2)=>{let whole=tree2.total[0]||1;for(let{fn,line:line2,
total}of linesOf(tree2).lines){let key=`${fn}:${line2}`,each=found3.get(key)??{fn,line:line2,a:0,b:0};found3.set(
key,each),each[side2?"b":"a"]=total/whole}}),[...found3.values()]}function sharesOfFiles(){let owned=new Set(head.
functions.file.filter((_,fn)=>isUsers(fn))),sides2=treesOf().map(tree2=>{let{files,byFile}=linesOf(tree2);return{
whole:tree2.total[0]||1,files,byFile}}),rows=[...new Set(sides2.flatMap(({byFile})=>[...byFile.keys()]))].map(
file=>{let[a,b=a]=sides2.map(side2=>(owned.has(file)?side2.files.get(file)??0:selfOf(side2.byFile.get(file)))/
side2.whole);return{file,a,b,share:b,isUsers:owned.has(file)}}),{selected}=state,chosen=selected===null?null:head.
functions.file[selected],size2=({a,b,share:share2})=>isDifference?Math.abs(b-a):share2;return rows.filter(({file,
a,b})=>a>0||b>0||file===chosen).sort((one,other)=>Number(other.isUsers)-Number(one.isUsers)||size2(other)-size2(
one))}var selfOf=lines=>[...lines?.values()??[]].reduce((sum,{self})=>sum+self,0);function linesOfFile(file){let texts=textsOf(
file),weights=weightsOf3(file),heaviest=[...weights.keys()].sort((a,b)=>sizeOf(weights,b)-sizeOf(weights,a)),{
selected}=state,all=[...texts.keys()].filter(number=>selected!==null&&texts.get(number)?.fn===selected);return{
lines:chosenLines(heaviest.slice(0,MAX_LINES),texts,all).map(number=>{let known=weights.get(number),source=texts.
get(number);return{number,fn:known?.fn??source?.fn??0,others:known?.others,text:source?.text??null,self:known?.
self??0,total:known?.total??0,a:known?.a??0,b:known?.b??0}}),sampled:heaviest.length}}function chosenLines(hot,texts,others){
let chosen=new Set([...hot,...others]);for(let number of hot)for(let near=number-AROUND;near<=number+AROUND;near++)
texts.has(near)&&chosen.add(near);return[...chosen].sort((a,b)=>a-b)}function textsOf(file){let texts=new Map,
excerpts=Object.entries(currentRun().source??{}).filter(([fn])=>head.functions.file[Number(fn)]===file).sort(([
,one],[,other])=>other.lines.length-one.lines.length);for(let[fn,{first,lines}]of excerpts)lines.forEach((text,i)=>texts.
set(first+i,{text,fn:Number(fn)}));return texts}function weightsOf3(file){let weights=new Map;return treesOf().
forEach((tree2,side2)=>{let whole=tree2.total[0]||1;for(let[number,line2]of linesOf(tree2).byFile.get(file)??[]){
let known=weights.get(number)??{...line2,a:0,b:0},others=[...known.others??[],...line2.others??[]];weights.set(
number,{...known,others,[side2?"b":"a"]:line2.total/whole})}}),weights}function sizeOf(weights,number){let{a,b,
total}=weights.get(number);return isDifference?Math.abs(b-a)+Math.max(a,b)/1e3:total}function sourceBeside(fn){let source=sourceOf(fn),larger=button("Larger",openTab2,{class:"quiet"}),title=make(
"div",{class:"stack-head"},titled("h4","Source",noteOf()),larger);return source?[make("section",{class:"source\
-beside"},title,source)]:[]}function openTab2(){setState({tab:"lines"}),places.tabs.scrollIntoView({block:"nea\
rest"})}function sourceOf(fn){let source=(currentRun().source??{})[fn];if(!source)return null;let weights=totalsOf(
fn,source),scale={most:Math.max(...weights.values(),0)||1,whole:currentTree().total[0]||1},rows=dedented(source.
lines).map((text,i)=>rowOf2(source.first+i,text,weights.get(source.first+i)??0,scale)),heads=["line","total","\
source"].map(name=>make("th",{scope:"col"},name)),holder=make("div",{class:"scroll source-scroll",tabindex:"0",
role:"region","aria-label":"Source excerpt"},make("table",{class:"source"},make("thead",{},make("tr",{},heads)),
make("tbody",{},rows)));return scrollToHottest(holder,rows),holder}function noteOf(){return isDifference?`shar\
e of ${state.thread===0?"A":"B"}`:state.thread==="all"&&state.activity==="all"?"share of all":"share of the gr\
aph"}function totalsOf(fn,{first,lines}){let known=linesOf(currentTree()).byFile.get(head.functions.file[fn]),
numbers2=lines.map((_,i)=>first+i);return new Map(numbers2.map(number=>[number,known?.get(number)?.total??0]))}
function dedented(lines){let depths=lines.filter(line2=>line2.trim()).map(indentOf),depth=depths.length?Math.min(
...depths):0;return lines.map(line2=>line2.slice(depth))}var indentOf=line2=>line2.length-line2.trimStart().length,
codeCell=text=>make("td",{class:"code",style:{"--indent":Math.min(indentOf(text),16)}},make("code",{},text));function rowOf2(number,text,total,{
most,whole}){let part=(total/most).toFixed(3);return make("tr",total?{class:"hot","data-heat":part,style:{"--h\
eat":part}}:{},make("th",{scope:"row",class:"number"},String(number)),make("td",{class:"number"},total?formatShare(
total/whole):""),codeCell(text))}function scrollToHottest(holder,rows){let heatOf=row=>Number(row.dataset.heat??
0),hottest2=rows.reduce((best,row)=>heatOf(row)>heatOf(best)?row:best);heatOf(hottest2)&&requestAnimationFrame(
()=>{holder.scrollTop=hottest2.offsetTop-holder.clientHeight/2})}var MAX_FRAMES=12,selectedFunctionPanel={id:"details",title:"Selected function",build(body){let figures=make("\
div"),place3=make("div");body.append(figures,place3);let showPlace=()=>{let{selected}=state;place3.replaceChildren(
...selected===null?[]:stack(selected))};follow(["run","thread","activity","selected"],()=>{let{selected}=state;
figures.replaceChildren(...selected===null?nothing2():about(selected)),showPlace()}),onChange(["cursor"],(_,changed)=>{
changed.includes("selected")||showPlace()})},applies:hasGraph},nothing2=()=>[hint("No function is selected. Cl\
ick a frame, or a row of the table, to select one."),...hotLines()];function about(fn){let tree2=currentTree(),
costs3=costsOf(tree2),clear={class:"quiet","aria-label":"Clear the selection"};return[make("div",{class:"detai\
ls-head"},make("h3",{class:"details-name"},swatch(fn),head.functions.name[fn]),button("clear",()=>setState({selected:null}),
clear)),make("p",{class:"place"},placeOf(fn)),make("dl",{class:"figures-list"},figure("self",costs3.self[fn],tree2),
figure("total",costs3.total[fn],tree2),...differenceRows(fn).map(([name,text])=>pair(name||"change",text)),pair(
"package",packageOf(fn)),pair("places in the tree",exactCount(costs3.places[fn]))),...sourceBeside(fn)]}var pair=(name,value)=>make(
"div",{},make("dt",{},name),make("dd",{},value));function figure(name,weight,tree2){let whole=tree2.total[0]||
1,share2=weight/whole;return make("div",{},make("dt",{},name),make("dd",{},make("strong",{},weight?sureShare(weight,
whole):formatShare(0)),make("span",{class:"faint"},weightText(weight)),make("span",{class:"meter"},bar(share2))))}
function stack(fn){let tree2=currentTree(),{nodes,weight}=groupOf(tree2,fn);if(!nodes.length)return[];let{cursor}=state,
chosen=cursor>0&&tree2.fn[cursor]===fn&&tree2.total[cursor]>0,heavier=(best,each)=>tree2.total[each]>tree2.total[best]?
each:best,node=chosen?cursor:nodes.reduce(heavier),frames=framesOf(tree2,node),share2=formatShare(tree2.total[node]/
weight);return[make("section",{class:"stack"},make("div",{class:"stack-head"},titled("h4",chosen?"Stack":"Heav\
iest stack",`${share2} of its total`),copyButton("Copy",()=>frames.map(textOf2).join(`
`))),...listOf(frames))]}function framesOf(tree2,node){let frames=[];for(let at2=node;at2!==0;at2=tree2.parent[at2])
frames.push(tree2.fn[at2]);return frames.reverse()}var textOf2=fn=>`${head.functions.name[fn]}  ${placeOf(fn)}`;
function listOf(frames){let hidden=frames.length>MAX_FRAMES+3?frames.length-MAX_FRAMES:0,list=make("ol",{class:"\
frames",start:hidden+1},frames.slice(hidden).map(item));if(hidden){let more2=button(`${hidden} outer frames`,()=>{
list.prepend(...frames.slice(0,hidden).map(item)),list.start=1,more2.remove()},{class:"more"});return[more2,list]}
return[list]}var select=fn=>()=>setState({selected:fn}),item=fn=>make("li",{},functionLink(fn,select(fn))," ",
placeElement(placeOf(fn))),MAX_LINES2=6,MIN_LISTED=.005,hotLines=()=>isDifference?mostChanged():hottest();function hottest(){
let tree2=currentTree(),whole=tree2.total[0]||1,found3=linesOf(tree2).lines.filter(({self})=>self>0);found3.sort(
(a,b)=>b.self-a.self);let shares=({self})=>[shareBar(self/whole,null,plusMinus(self,whole))],items=found3.slice(
0,MAX_LINES2).map(each=>lineItem(each,shares(each)));return lineList("Hottest lines","by self share",items)}function mostChanged(){
let found3=changedLines().filter(line2=>changeOf(line2)!=="noise"&&Math.abs(line2.b-line2.a)>=MIN_LISTED).sort(
(one,other)=>Math.abs(other.b-other.a)-Math.abs(one.b-one.a)),points=({a,b})=>[make("strong",{class:`points ${b>
a?"more":"less"}`},`${formatPoints(b-a)} points`)];return lineList("Lines that differ most","by total share, i\
n functions that changed",found3.slice(0,MAX_LINES2).map(each=>lineItem(each,points(each))))}var lineList=(title,remark,items)=>items.
length?[make("section",{class:"hot-lines"},titled("h3",title,remark),make("ol",{},items))]:[];function lineItem({
fn,line:line2},figures){let text=lineText(fn,line2);return make("li",{},make("div",{class:"hot-line"},figures,
functionLink(fn,select(fn))),text?make("code",{class:"hot-code",title:text},text):null,placeElement(`${head.functions.
file[fn]}:${line2}`))}var selectorsPanel={id:"selectors",title:"Selection",build(body){let place3=make("span",{class:"chooser-place"});
body.append(...regionChooser(),place3),follow(["run"],()=>place3.replaceChildren(...threadChooser(),...activityChooser()))},
applies:()=>head.runs.length>1||head.runs.some(run=>run.threads.length>1||run.waiting>0)};function regionChooser(){
let{runs,kind}=head;if(runs.length<2||kind!=="sampled")return[];let options=runs.map((run,i)=>[i,run.label]);return[
chooser("Region",options,value=>({run:Number(value)}),()=>state.run)]}function sideChooser({a,b}){let options=[
[0,`A: ${a}`],[1,`B: ${b}`]];return chooser("Side",options,value=>({thread:Number(value)}),()=>state.thread)}function threadChooser(){
let run=currentRun();if(run.threads.length<2)return[];if(head.kind==="comparison")return[sideChooser(head.comparison?.
names??{a:"",b:""})];let total=treeOf(state.run,"all").total[0]||1,weights=weightsOf4(state.run,run.threads.length),
placeOf3=i=>run.threads[i].place,order2=[...weights.keys()].sort((a,b)=>placeOf3(a)-placeOf3(b)||weights[b]-weights[a]),
shareOf2=i=>formatShare(weights[i]/total),named=order2.map(i=>[i,`${nameOf2(run.threads[i])} – ${shareOf2(i)}`]);
return[chooser("Thread",[["all",`all ${run.threads.length} threads`],...named],value=>({thread:value==="all"?value:
Number(value)}),()=>state.thread)]}function activityChooser(){let{total,waiting:waiting2}=currentRun();if(!waiting2)
return[];let options=[["all","working and waiting"],["working",`working – ${formatShare((total-waiting2)/total)}`],
["waiting",`waiting – ${formatShare(waiting2/total)}`]];return[chooser("Time",options,value=>({activity:value}),
()=>state.activity)]}function weightsOf4(run,count){let weights=new Float64Array(count),[threads,amounts]=[column(
`r${run}.pair.thread`),column(`r${run}.pair.weight`)];return threads.forEach((thread,pair2)=>{weights[thread]+=
amounts[pair2]}),weights}var nameOf2=({name,tid})=>[name,tid??""].filter(part=>part!=="").join(" · ");function chooser(name,options,changes2,current2){
let id=`choose-${name.toLowerCase()}`,select2=make("select",{id,change:()=>setState(changes2(select2.value))},
options.map(([value,text])=>make("option",{value:String(value)},text)));return follow(["run","thread","activit\
y"],()=>{select2.value=String(current2())}),make("div",{class:"chooser"},make("label",{class:"chooser-name",for:id},
name),select2)}var MAX_FILES=12,view2={measure:"total",opened:new Map,files:MAX_FILES},sourceLinesPanel={id:"lines",title:"So\
urce lines",build(body){let list=make("div",{class:"heat-map"}),remark=make("p",{class:"hint"}),show=()=>{remark.
textContent=remarkOf(),list.replaceChildren(...shownFiles(show))};body.append(make("div",{class:"heat-head"},remark,
isDifference?null:measures(show)),list),follow(["run","thread","activity"],show),onChange(["selected","tab"],()=>showChosen(
list,show)),requestAnimationFrame(()=>scrollToSelected(list))},applies:hasLines};function showChosen(list,show){
if(!list.contains(document.activeElement)){show(),scrollToSelected(list);return}for(let row of list.querySelectorAll(
"tr[data-function]"))row.classList.toggle("chosen-line",Number(row.getAttribute("data-function"))===state.selected)}
function remarkOf(){return isDifference?"Total share of each line in A and B. Lines of functions that changed \
are orange if B spends more there, blue if it spends less. Differences of single lines are not tested for nois\
e.":hasStatedTotals(treeOf(state.run))?"Shares are those of whole functions, at their first line.":"Select a l\
ine to select its function."}function measures(show){let choose=measure=>button(measure,()=>{view2.measure=measure;
for(let each of choices)each.setAttribute("aria-pressed",String(each.textContent===measure));show()},{"aria-pr\
essed":String(view2.measure===measure)}),choices=[choose("self"),choose("total")];return make("div",{class:"se\
gmented",role:"group","aria-label":"Colour of lines by"},choices)}function shownFiles(show){let files=sharesOfFiles(),
wanted2=state.selected===null?null:head.functions.file[state.selected],heat=heatScale(),isOpen=file=>file===wanted2||
(view2.opened.get(file)??file===files[0].file),shown=files.filter(({file},i)=>i<view2.files||file===wanted2).map(
each=>fileElement(each,heat,isOpen(each.file))),rest=files.length-shown.length,more2=button(`${rest} more file\
s`,()=>{view2.files*=2,show()},{class:"more"});return[...shown,...rest>0?[more2]:[],...files.length?[]:[hint("\
There are no lines here.")]]}function heatScale(){return isDifference?largestChange:linesOf(currentTree()).lines.
reduce((most,line2)=>Math.max(most,line2[view2.measure]),0)||1}function fileElement(share2,heat,open){let{file}=share2,
element=make("details",{class:"file",open,"data-file":file},make("summary",{},titleOf(share2))),fill2=()=>{element.
open&&element.children.length<2&&element.append(...fileBody(file,heat))};return element.addEventListener("togg\
le",()=>{view2.opened.set(file,element.open),fill2()}),fill2(),element}function titleOf({file,share:share2,isUsers:isUsers2,
a,b}){let figures=isDifference?[make("span",{class:"file-sides"},`${formatShare(a)} → ${formatShare(b)}`)]:[
shareBar(share2)];return make("span",{class:"file-title"},figures," ",make("strong",{},placeElement(file||"no \
file"))," ",make("small",{class:"faint"},isUsers2?"with library calls":"in the file itself"))}function fileBody(file,heat){
let{lines,sampled}=linesOfFile(file),texts=dedented(lines.map(({text})=>text??"")),rows=lines.flatMap((line2,i)=>[
...i>0&&line2.number>lines[i-1].number+1?[gapRow()]:[],lineRow(line2,line2.text===null?null:texts[i],heat)]),rest=sampled-
MAX_LINES;return[tableOf(file,rows),...rest>0?[hint(`${exactCount(rest)} more lines have smaller shares.`)]:[]]}
function tableOf(file,rows){let body=make("tbody",{},rows);listenToRows(body),setTabStop(body,row=>row.classList.
contains("chosen-line"));let heads=["line",...isDifference?["A","B","difference"]:["self","total"],"source"].map(
name=>make("th",{scope:"col"},name));return make("div",{class:"scroll"},make("table",{class:"source"},make("ca\
ption",{class:"off-screen"},`Lines of ${file} with their shares`),make("thead",{},make("tr",{},heads)),body))}
var gapRow=()=>make("tr",{class:"gap"},make("td",{colspan:5},"⋯"));function lineRow(line2,text,heat){let{number,
fn}=line2,name=head.functions.name[fn],select2=()=>setState({selected:fn}),title=`Select ${name}`,chosen=fn===
state.selected?" chosen-line":"",{kind,part}=colourOf(line2,heat),attributes={class:`${kind}${chosen}`.trim()||
null,"data-function":fn,style:{"--heat":part.toFixed(3)}},row=make("tr",attributes,make("th",{scope:"row",class:"\
number"},button(String(number),()=>{},{class:"link",title,"aria-label":`${number}, ${title}`})),...isDifference?
sideCells(line2):shareCells(line2),text===null?cell(`in ${name}`,{class:"code faint"}):codeCell(text));return onPick(
row,select2),row}function colourOf(line2,heat){if(!isDifference)return{kind:line2.total?"hot":"",part:Math.sqrt(
line2[view2.measure]/heat)};let change=changeOf(line2);return change==="noise"?{kind:"",part:0}:{kind:`${change}\
-line`,part:Math.sqrt(Math.min(1,Math.abs(line2.b-line2.a)/heat))}}function shareCells({self,total}){let whole=currentTree().
total[0]||1;return[self,total].map(weight=>cell(sureShare(weight,whole),{class:"number"}))}function sideCells(line2){
let{a,b}=line2,points=a||b?formatPoints(b-a):"";return[...[a,b].map(share2=>numberCell(share2?formatShare(share2):
"")),cell(points,{class:`number ${changeOf(line2)}`})]}function scrollToSelected(list){let rows=[...list.querySelectorAll(
".chosen-line")],heatOf=row=>Number(row.style.getPropertyValue("--heat"));if(!rows.length||rows.some(row=>row.
contains(document.activeElement)))return;let at2=rows.reduce((best,row)=>heatOf(row)>heatOf(best)?row:best).getBoundingClientRect().
top-list.getBoundingClientRect().top;list.scrollTop+=at2-list.clientHeight/3}var NUMBERS=new Set(["run","focus","cursor","selected","order"]),WORDS={view:["left-heavy","chronological"],direction:[
"icicle","flame"],chains:["folded","unfolded"],theme:["auto","light","dark"],activity:["all","working","waitin\
g"]};function writeFragment(state2,initial){let parts2=new URLSearchParams;for(let[name,value]of Object.entries(
state2)){if(value===initial[name]||value===null)continue;let text=Array.isArray(value)?value.map(part=>part.toPrecision(
9)).join(","):String(value);parts2.set(name,text)}return parts2.toString()}function readFragment(fragment,initial,contents){
let state2={...initial};for(let[name,text]of new URLSearchParams(fragment)){if(!Object.hasOwn(initial,name))continue;
let value=valueOf(name,text);value!==void 0&&Object.assign(state2,{[name]:value})}return bounded(state2,initial,
contents)}function valueOf(name,text){return NUMBERS.has(name)?/^\d{1,9}$/.test(text)?Number(text):void 0:name===
"thread"?text==="all"?text:/^\d{1,5}$/.test(text)?Number(text):void 0:name==="range"?rangeOf(text):Object.hasOwn(
WORDS,name)&&!WORDS[name].includes(text)?void 0:text}function rangeOf(text){let[from,to]=text.split(",").map(Number);
return from>=0&&from<to&&to<=1?[from,to]:void 0}function bounded(state2,initial,contents){state2.run>=contents.
runs.length&&(state2.run=0);let run=contents.runs[state2.run],nodes=run?contents.nodes(state2.run):1;return state2.
thread!=="all"&&!(state2.thread<(run?.threads.length??0))&&(state2.thread=initial.thread),state2.focus>=nodes&&
(state2.focus=0),state2.cursor>=nodes&&(state2.cursor=0),state2.selected!==null&&state2.selected>=contents.functions&&
(state2.selected=null),state2.order>=contents.orders&&(state2.order=0),run?.ordered||(state2.view="left-heavy"),
state2}var SILENT=new Set(["search","range","cursor","theme","tab"]),REST_MS=250,waiting=null,timer,fragmentOf=state2=>writeFragment(
state2,initialState),stateOf=fragment=>readFragment(fragment,initialState,{runs:head.runs,nodes:run=>shapeOf(run).
fn.length,functions:head.functions.name.length,orders:head.orders?.length??1});function followAddress(){read(),
onChange(Object.keys(initialState),(state2,changed,origin)=>{origin!=="address"&&write(state2,changed,origin)}),
addEventListener("popstate",read)}function write(state2,changed,origin){if(location.protocol==="about:")return;
let isStep=name=>SILENT.has(name)||name==="selected"&&origin==="graph",address=`#${fragmentOf(state2)}`;changed.
every(isStep)?replaceSoon(address):(replaceNow(),address!==(location.hash||"#")&&history.pushState(null,"",address))}
function replaceSoon(address){waiting=address,clearTimeout(timer),timer=setTimeout(replaceNow,REST_MS)}function replaceNow(){
clearTimeout(timer),waiting!==null&&history.replaceState(null,"",waiting),waiting=null}function read(){waiting=
null,setState(stateOf(location.hash.slice(1)),"address")}var PANELS=[selectorsPanel,summaryPanel,documentPanel,orderPanel,sampledComparisonPanel,resourcesPanel,selectedFunctionPanel,
hotFunctionsPanel,awaitsPanel,sourceLinesPanel,callersAndCalleesPanel,operatorsPanel,processesPanel,factsPanel,
notesPanel];async function start(){let place3=document.getElementById("profkit");try{await unpackColumns(),followAddress(),
followTheme(),followThemeInSwatches(),buildLayout(place3,PANELS)}catch(error){let reason=error instanceof Error?
error.message:String(error);throw place3.textContent=`This report cannot be shown: ${reason}. Use a browser fr\
om 2024 or later.`,error}finally{place3.removeAttribute("aria-busy")}}start();return __toCommonJS(main_exports);})();
