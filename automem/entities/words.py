"""Word lists of the entity rules (background.md 3.2, 3.4); all lower-case."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STATUS_VERBS = _words(
    "accept achieve activate apply approve archive assign attach block build cancel check clean clear close "
    "commit complete confirm configure create deliver deploy disable document enable evaluate expire "
    "explain extend finalize finish fix identify implement improve include install integrate investigate "
    "involve launch log merge migrate modify notify observe optimize pass patch pause plan prepare "
    "process prove publish receive recommend record refactor reject release remove rename repair replace "
    "report request require resolve restore resume retry return review revise schedule select ship skip "
    "solve start stop store submit succeed supply support suspend sync test track update upgrade upload "
    "validate verify"
)
"""Whatever they are a form of says what happened, not who or what."""

ACTION_VERBS = _words(
    "add apply ask build buy call change check clean close commit configure connect copy create debug "
    "delete deploy deployed disable discuss document drop edit enable ensure explain find finish fix "
    "follow generate get implement import improve install integrate investigate keep make merge migrate "
    "move open patch prepare publish pull push read refactor release remove rename replace report request "
    "restart retry review rewrite run save schedule send set setup ship show start stop store submit "
    "switch sync test track try update upgrade upload use validate verify write"
)

GENERIC = _words(
    "action agent answer approach area article aspect asset background backup base basis batch benefit "
    "bit branch bug case cause chance change chapter choice client comment commit component concept "
    "condition content context conversation cost count data date day deadline default demo design detail "
    "details discussion doc docs document documentation draft effort email entity entry error event "
    "everyone everything evidence example exception experience fact feature feedback field finding "
    "findings flow folder form format function future goal group guide history hour idea impact info "
    "information input insight instance issue item job key language lesson level line link list location "
    "log management meeting member memory message method metric metrics milestone minute mode moment "
    "month month name need new news next nobody none note notes notification number object objective "
    "office one option order organization other output overview page part past pattern people performance "
    "period person phase place plan point policy preference present priority problem process product "
    "profile progress project prompt proposal purpose quality query question reason recall record "
    "reference release report request requirement research resource response result results review risk "
    "role root rule sample schedule scope script search section security session set setting settings "
    "side solution someone something source stage standard state status step story strategy structure "
    "style subject success suggestion summary support system tag target task team test text thing things "
    "thought ticket time timeline title today tomorrow tonight tool topic type update url usage user "
    "users value version video view way week weekend word words work workflow year yesterday"
)

REPORT_WORDS = _words(
    "agenda announcement blog changelog checklist conditions decision decisions discussion draft epic "
    "findings followup http https issue issues kickoff minutes newsletter notes outline post postmortem "
    "proposal recap report retro retrospective review roadmap sprint standup summary terms todo update "
    "weekly www"
)

STRONG_CODE = _words(
    "bin config env etc file filename files json markdown md mnt path pathname python settings src tmp "
    "toml users usr utils var venv yaml yml"
)
WEAK_CODE = _words(
    "api args bash cli code css dockerfile html js lib m main npm pip py sh sql ts tsx txt xml zsh"
)

TECH_NOUNS = _words(
    "admin ai android angular ansible api app apps aws azure backend bash bot browser cache celery "
    "chatbot chatgpt claude cli cloud cluster code compose container copilot css cursor dashboard data "
    "database db debian desktop devops django docker elasticsearch engine excel express fastapi figma "
    "firebase flask framework frontend gateway gemini git github gitlab golang google gpt grafana graphql "
    "hub html http jenkins jira jquery json jupyter kafka kernel kubernetes lambda laravel linux llama "
    "llm mac macos mariadb model mongo mongodb mysql netlify nginx node nodejs notion npm numpy ollama "
    "openai oracle pandas pipeline platformplugin postgres postgresql prometheus proxy pytest python pytorch "
    "qdrant queue rabbitmq rails react redis redux repo rest rust sdk sentry server service shopify slack "
    "spark splunk spring sql sqlite stack storage stripe supabase svelte swift system tailwind tensorflow "
    "terraform tool tools typescript ubuntu unix uvicorn vercel vite vue vscode webhook webpack widget "
    "windows wordpress xcode yarn zoom"
)

EVERYDAY = _words(
    "a about actually after afternoon again ago all almost also although always am an and another any "
    "anyone anything anyway are around as at awesome back bad be because been before best better big both "
    "bottom boy bro but by calendar can card chrome christmas class college company congrats "
    "congratulations cool could course dad deck definitely desktop did do does done dr dude each early "
    "easter eastern either email english enough even evening ever every exactly few finally first folks "
    "for forever former four friday friend friends from front full fun german girl glad good great guys "
    "had half halloween happy has have he hello help her here hers hey hi highlights him his home "
    "honestly house how however i if in inbox indeed inside instead internet into is it its just kids "
    "kitchen last late later latest least left less let line little long look lot lots love lunch madam "
    "man many may maybe me mean mom monday more morning most mother mr mrs ms much mum music must my "
    "never nice night no nope not nothing now of off oh ok okay old on once only or ouch our ours out "
    "over own part party peers perhaps phone photo please plugin pm pretty probably quick quite rather "
    "really right room same saturday second seems several shall she shop should show sir site so some "
    "sometimes somewhere soon sorry spanish still stuff such sunday sure than thank thanks thanksgiving "
    "that the their them then there these they third this those though three thursday to together too top "
    "town tuesday two under until up upon us very wait was wednesday weather website well went were "
    "western what whatever when where whether which while who whole whose why will with wow yeah yes yet "
    "you young your yours january february march april june july august september october november "
    "december american french british italian chinese japanese indian russian mexican european asian "
    "african canadian international assistant bot human user narrator speaker unknown anonymous"
)

COMMON = _words(
    "additional advanced aim align appropriate audience author balance basic black blue bold book budget "
    "business button career celsius challenge children city clear code coffee color common community "
    "complete complex connect consistent core create creative credit cross current custom dark deep "
    "define different direct doctor dog drive dynamic easy education employee employer energy engage "
    "entire establish explore express external extra family fast final financial focus free frequent "
    "fresh gallery game general gift given global gold grammar gratitude green ground growth guest happy "
    "hard health heart high hope image important index individual industry inline inner integration "
    "internal island keyword known lab large learn legal letter life light limit live local long low main "
    "major map market master maximum media mental mentor mind minimum minor mixed modern money multiple "
    "music natural nature network open optional outer page paper parent peace personal photo piece plain "
    "play popular positive possible post power practice prefer prepare presence price pride primary print "
    "private professional professor profile proper public question quick quiet random rate ready real red "
    "regular relative responsive restful rich road round school science second secure select self "
    "separate share shared sharp short simple single skill small smart smooth social soft software solid "
    "special specific spring standard star start static stay straight strong student study summer "
    "supervisor sure table talent teacher technique temperature template theme third thorough thoroughly "
    "tone total touch track transaction transition travel trend true unique unit unknown upper usability "
    "variable vary visual voice warm warning water weather white wide winter wish woman wonder world "
    "wrong youth zero"
)
"""Words of titles and headings, which begin with a capital there."""

BUSINESS_HINTS = _words(
    "acquisition api app architecture backend benchmark cli cloud codebase compiler container database "
    "dashboard deployment endpoint framework frontend integration invoice kubernetes latency library "
    "microservice package pipeline platform plugin product repo repository runtime saas schema sdk server "
    "service software startup subscription vendor webhook"
)
"""A lone name beside one of these is rather a product's, unless it is a known given name."""

PRODUCT_SUFFIXES = ("ai", "api", "app", "bot", "cli", "cloud", "corp", "db", "hub", "labs", "math", "sdk")
NAME_PREFIXES = ("Mc", "Mac", "De", "Di", "Du", "La", "Le", "Van", "Von", "Fitz", "O")
"""Before a further capital they make a family name, not camel case."""
PARTICLES = _words("al bin da das de del della den der di dos du el la le mac ten van von y")

ARTICLES = _words("a an the")
CYCLES = _words("phase round sprint tier track")
MONTHS = _words(
    "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct "
    "october nov november dec december"
)

SEARCH_STOPS = _words(
    "the and for with that this from into using have will your about after before when then than also "
    "just very more less over under"
)
ENTITY_STOPS = _words("you your yours whatever today tomorrow project projects office session meeting")
STOPS = SEARCH_STOPS | ENTITY_STOPS

BLOCKED = frozenset(
    (
        "bad request",
        "not found",
        "unauthorized",
        "forbidden",
        "internal server error",
        "service unavailable",
        "gateway timeout",
        "bad gateway",
        "too many requests",
        "request timeout",
        *[
            "econnreset",
            "econnrefused",
            "etimedout",
            "enotfound",
            "enetunreach",
            "ehostunreach",
            "epipe",
            "eaddrinuse",
        ],
        *["error", "errors", "warning", "exception", "failed", "failure"],
    )
)
LITERALS = _words("true false null none undefined nan")
CODE_SUFFIXES = (
    "Adapter",
    "Handler",
    "Manager",
    "Service",
    "Controller",
    "Provider",
    "Factory",
    "Builder",
    "Helper",
    "Util",
    "Error",
    "Exception",
    "Field",
    "Form",
    "Mixin",
    "Schema",
    "Loaded",
    "Listener",
    "Component",
    "Required",
    "Limiter",
)
"""Names of classes end so."""
TITLES = _words(
    "dr doctor mr mrs ms miss prof professor sir madam aunt uncle coach judge president frau herr madame "
    "monsieur mme señor señora"
)
